//! A vault that was opened: its plaintext, its label, and the password to close it with again.

use std::fmt;

use zeroize::Zeroizing;

use super::cipher;
use super::envelope::Header;
use super::password::Password;
use crate::error::Result;

/// A decrypted vault; its plaintext is zeroised on drop.
pub struct Opened {
    pub(super) plaintext: Zeroizing<Vec<u8>>,
    pub(super) header: Header,
    pub(super) password: Password,
}

impl Opened {
    /// Returns the plaintext.
    pub fn plaintext(&self) -> &[u8] {
        &self.plaintext
    }

    /// Returns the label in the header, where there is one.
    pub fn label(&self) -> Option<&str> {
        self.header.label.as_deref()
    }

    /// Encrypts a new plaintext with the same password, label and version.
    ///
    /// The salt is new, so every byte differs: write only what has changed.
    pub fn seal(&self, plaintext: &[u8]) -> Result<Vec<u8>> {
        Ok(cipher::seal(self.password.bytes(), plaintext, self.header.clone())?.to_bytes())
    }
}

/// Shows the label only.
impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("label", &self.label()).finish_non_exhaustive()
    }
}
