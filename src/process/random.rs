//! Random bytes of the system, for passwords, keys, salts and names, and the one error for a system
//! that gives none.

use crate::error::{Error, Result};

/// Returns random bytes.
pub fn random_bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    fill_random(&mut bytes)?;
    Ok(bytes)
}

/// Fills a buffer with random bytes.
pub fn fill_random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Error::unavailable("the system gives no random bytes").because(error))
}
