//! The MAC of a file: SHA-512 over its leaves, encrypted with the time of the last change.

use sha2::{Digest, Sha256, Sha512};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::cipher::{Cipher, Ivs};
use super::plaintext::{Label, Plaintext};
use super::refusal::refused;
use crate::error::Result;

/// What goes into the MAC.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MacScope {
    /// Every leaf.
    #[default]
    All,
    /// Only leaves that are encrypted.
    OnlyEncrypted,
}

/// A MAC that is being computed.
pub(super) struct Mac {
    scope: MacScope,
    hash: Sha512,
}

impl Mac {
    /// Begins a MAC; the two scopes can never give the same one.
    pub fn new(scope: MacScope) -> Self {
        let mut hash = Sha512::new();
        if scope == MacScope::OnlyEncrypted {
            hash.update(Sha256::digest("sops"));
        }
        Self { scope, hash }
    }

    /// Adds a leaf.
    pub fn add(&mut self, plain: &Plaintext, encrypted: bool) {
        if encrypted || self.scope == MacScope::All {
            self.hash.update(&*plain.bytes);
        }
    }

    /// Ends it as the text that is encrypted.
    pub fn finish(self) -> Plaintext {
        let digest = self.hash.finalize();
        let mut hex = Zeroizing::new(Vec::with_capacity(digest.len() * 2));
        for byte in digest {
            hex.extend_from_slice(format!("{byte:02X}").as_bytes());
        }
        Plaintext { label: Label::Str, bytes: hex }
    }
}

/// Refuses a file whose MAC is not the computed one.
pub(super) fn verify(cipher: &Cipher, computed: &Plaintext, sealed: &str, last_modified: &str) -> Result<()> {
    let changed = || {
        refused("the MAC does not fit: something in the file was changed without its key")
            .hint("take the file from version control, or ask who changed it by hand")
    };
    if sealed.is_empty() {
        return Err(refused("the file has no `sops.mac`, nothing tells whether it was changed"));
    }
    let stored = cipher.open(sealed, last_modified, &mut Ivs::default()).map_err(|_| changed())?;
    if bool::from(stored.bytes.as_slice().ct_eq(computed.bytes.as_slice())) { Ok(()) } else { Err(changed()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::sops::keys::DataKey;

    fn mac_of(scope: MacScope, leaves: &[(&str, bool)]) -> Plaintext {
        let mut mac = Mac::new(scope);
        for (text, encrypted) in leaves {
            mac.add(&Plaintext::of_comment(text), *encrypted);
        }
        mac.finish()
    }

    #[test]
    fn the_scope_is_part_of_the_mac() {
        let all = mac_of(MacScope::All, &[("a", true)]);
        let some = mac_of(MacScope::OnlyEncrypted, &[("a", true), ("b", false)]);
        let same = mac_of(MacScope::OnlyEncrypted, &[("a", true), ("c", false)]);

        assert_ne!(all.bytes, some.bytes);
        assert_eq!(some.bytes, same.bytes);
        assert_eq!(all.bytes.len(), 128);
    }

    #[test]
    fn a_mac_of_another_time_is_refused() {
        let cipher = Cipher::new(&DataKey::from_bytes(&[1; 32]).unwrap());
        let mac = mac_of(MacScope::All, &[("a", true)]);
        let sealed = cipher.seal(&mac, "2024-01-01T00:00:00Z", &mut Ivs::default()).unwrap();

        assert!(verify(&cipher, &mac, &sealed, "2024-01-01T00:00:00Z").is_ok());
        assert!(verify(&cipher, &mac, &sealed, "2024-01-01T00:00:01Z").is_err());
        assert!(verify(&cipher, &mac, "", "2024-01-01T00:00:00Z").is_err());
    }
}
