//! Random bytes of the system, for passwords, keys, salts and names that nobody else chooses.

use crate::error::{Error, Result};

/// Returns random bytes.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(Error::unavailable("the system gives no random bytes").because(error)),
    }
}
