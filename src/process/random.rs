//! Random bytes of the system, and the one error for a system that has none.

use crate::error::{Error, Result};

/// Fills a buffer with random bytes that nobody can guess.
pub fn fill_random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Error::unavailable("the system gives no random bytes").because(error))
}
