//! A new age key: the text of its file, and the public half that others encrypt for.

use std::fmt;

use age::secrecy::ExposeSecret as _;
use jiff::Timestamp;
use zeroize::Zeroizing;

/// A key that was just made; nothing holds it yet.
pub struct FreshKey {
    /// What its file holds, as `age-keygen` lays it out.
    pub text: Zeroizing<String>,
    /// Its public half.
    pub recipient: String,
}

impl FreshKey {
    /// Makes a key.
    pub fn generate(now: Timestamp) -> Self {
        let identity = age::x25519::Identity::generate();
        let recipient = identity.to_public().to_string();
        let secret = identity.to_string();
        let created = now.strftime("%Y-%m-%dT%H:%M:%SZ");
        let text = format!("# created: {created}\n# public key: {recipient}\n{}\n", secret.expose_secret());
        Self { text: Zeroizing::new(text), recipient }
    }
}

/// Shows the public half only.
impl fmt::Debug for FreshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreshKey").field("recipient", &self.recipient).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::identities::Identities;

    #[test]
    fn the_text_of_a_new_key_is_a_key_file_with_its_public_half() {
        let key = FreshKey::generate(Timestamp::UNIX_EPOCH);
        let mut identities = Identities::none(&|_| None);

        identities.add("`new`", key.text.as_bytes());

        assert_eq!(identities.recipients(), [key.recipient.as_str()]);
        assert!(key.text.starts_with("# created: 1970-01-01T00:00:00Z\n# public key: age1"));
        assert!(!format!("{key:?}").contains("AGE-SECRET"));
    }
}
