//! One pair of user name and password, compared in constant time.
//!
//! Both sides are hashed before the comparison, so neither the content nor the length of
//! the right answer shows in the time it takes.

use std::fmt;

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A user name and a password for Basic authentication.
#[derive(Clone)]
pub struct Credentials {
    username: String,
    password: String,
}

impl Credentials {
    /// Makes a pair.
    pub fn new(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self { username: username.into(), password: password.into() }
    }

    /// Returns the user name.
    pub fn username(&self) -> &str {
        &self.username
    }

    /// Returns the password, for the environment of a client.
    pub(in crate::state) fn password(&self) -> &str {
        &self.password
    }

    /// Returns whether an `Authorization` header carries this pair.
    pub(super) fn are_in(&self, header: Option<&HeaderValue>) -> bool {
        let expected = Sha256::digest(format!("{}:{}", self.username, self.password));
        let given = Sha256::digest(header.and_then(pair_of).unwrap_or_default());
        expected.ct_eq(&given).into()
    }
}

/// Shows the user name only.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

pub(super) fn pair_of(header: &HeaderValue) -> Option<Vec<u8>> {
    let (scheme, encoded) = header.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    STANDARD.decode(encoded.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(header: &str) -> bool {
        let credentials = Credentials::new("infra", "correct");
        credentials.are_in(Some(&HeaderValue::from_str(header).expect("a header value")))
    }

    #[test]
    fn only_the_right_pair_is_admitted() {
        let basic = |pair: &str| format!("Basic {}", STANDARD.encode(pair));

        assert!(admitted(&basic("infra:correct")));
        assert!(admitted(&basic("infra:correct").replace("Basic", "basic")));
        for pair in ["infra:wrong", "infra:", "infra", ":correct", "", "infra:correct:", "INFRA:correct"] {
            assert!(!admitted(&basic(pair)), "{pair}");
        }
    }

    #[test]
    fn a_missing_or_broken_header_is_not_admitted() {
        for header in ["", "Basic", "Basic !", "Bearer aW5mcmE6Y29ycmVjdA=="] {
            assert!(!admitted(header), "{header}");
        }
        assert!(!Credentials::new("", "").are_in(None));
    }

    #[test]
    fn the_password_is_never_shown() {
        let shown = format!("{:?}", Credentials::new("infra", "hunter2"));

        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
