//! The key that encrypts every value of one file; wiped when it is dropped, never shown.

use zeroize::Zeroizing;

use crate::error::Result;
use crate::process::fill_random;
use crate::secrets::sops::refusal::refused;

/// How many bytes a data key has.
pub const LENGTH: usize = 32;

/// The data key of a file.
#[derive(Clone)]
pub struct DataKey(Zeroizing<[u8; LENGTH]>);

impl DataKey {
    /// Makes a new random key.
    pub fn random() -> Result<Self> {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        fill_random(bytes.as_mut_slice())?;
        Ok(Self(bytes))
    }

    /// Takes a key that was unwrapped; only the right length is a key.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut key = Zeroizing::new([0; LENGTH]);
        if bytes.len() != LENGTH {
            let found = bytes.len();
            return Err(refused(format!("the data key has {found} bytes, expected {LENGTH}")));
        }
        key.copy_from_slice(bytes);
        Ok(Self(key))
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl std::fmt::Debug for DataKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DataKey(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_key_never_shows_itself() {
        let key = DataKey::from_bytes(&[7; LENGTH]).unwrap();

        assert_eq!(format!("{key:?}"), "DataKey(hidden)");
    }

    #[test]
    fn only_the_right_length_is_a_key() {
        assert!(DataKey::from_bytes(&[7; 31]).is_err());
        assert!(DataKey::from_bytes(&[]).is_err());
        assert_ne!(DataKey::random().unwrap().bytes(), DataKey::random().unwrap().bytes());
    }
}
