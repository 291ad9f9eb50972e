//! A public key that a data key can be wrapped for.

use std::str::FromStr;

use crate::error::{Error, Kind, Result};

/// A recipient that age can encrypt for.
pub struct Recipient(Public);

enum Public {
    Age(age::x25519::Recipient),
    Ssh(Box<age::ssh::Recipient>),
}

impl Recipient {
    /// Returns it as age takes it.
    pub(super) fn as_age(&self) -> &dyn age::Recipient {
        match &self.0 {
            Public::Age(recipient) => recipient,
            Public::Ssh(recipient) => recipient.as_ref(),
        }
    }

    /// Wraps a secret as an armoured age message.
    pub fn wrap(&self, secret: &[u8]) -> Result<String> {
        let wrapped = match &self.0 {
            Public::Age(recipient) => age::encrypt_and_armor(recipient, secret),
            Public::Ssh(recipient) => age::encrypt_and_armor(recipient.as_ref(), secret),
        };
        wrapped.map_err(|error| Error::new(Kind::Refused, "cannot wrap the data key").because(error))
    }
}

impl FromStr for Recipient {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let parsed = if text.starts_with("ssh-") {
            text.parse().ok().map(|recipient| Public::Ssh(Box::new(recipient)))
        } else {
            text.parse().ok().map(Public::Age)
        };
        parsed.map(Self).ok_or_else(|| {
            Error::new(Kind::Refused, format!("`{text}` is no recipient")).hint(
                "expected `age1…`, `ssh-ed25519 …` or `ssh-rsa …` of 2048 bits or more, without a plugin",
            )
        })
    }
}

impl std::fmt::Debug for Recipient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Public::Age(recipient) => write!(f, "Recipient({recipient})"),
            Public::Ssh(recipient) => write!(f, "Recipient({recipient})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recipient_is_refused_by_its_text() {
        for odd in ["", "age1", "age1yubikey1qqqq", "ssh-ed25519 AAAA", "AGE-SECRET-KEY-1"] {
            let error = odd.parse::<Recipient>().unwrap_err();

            assert!(error.message().contains(&format!("`{odd}`")), "{error}");
        }
    }
}
