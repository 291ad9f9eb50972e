//! A password as a users file may hold it: its argon2id hash with a random salt.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher as _, SaltString};

use crate::error::{Error, Result};
use crate::process::random_bytes;

/// Returns the hash of a password, in the usual text form.
pub fn hash_password(password: &str) -> Result<String> {
    let bytes: [u8; 16] = random_bytes()?;
    let hashed = SaltString::encode_b64(&bytes)
        .and_then(|salt| Ok(Argon2::default().hash_password(password.as_bytes(), &salt)?.to_string()));
    hashed.map_err(|error| Error::bug(format!("the password cannot be hashed: {error}")))
}
