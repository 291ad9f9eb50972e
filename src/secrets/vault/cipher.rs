//! The mathematics of a vault: a password and a salt become keys, keys turn plaintext into
//! ciphertext with an HMAC and back.
//!
//! The HMAC is compared in constant time and before anything is decrypted. The key schedule
//! and the derived keys are zeroised; the inner states of HMAC and SHA-256 are not, since
//! their crates cannot. Begin at [`open`] and [`seal`].

use std::num::NonZeroU32;

use aes::Aes256;
use aws_lc_rs::pbkdf2::{self, PBKDF2_HMAC_SHA256};
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit as _, StreamCipher as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::envelope::{Envelope, Header};
use crate::error::Result;
use crate::process::fill_random;

/// How many rounds of PBKDF2 the format prescribes.
const ROUNDS: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

/// The block of AES, to which plaintext is padded.
const BLOCK: usize = 16;

/// How long the salt of a new vault is.
const SALT: usize = 32;

/// Why a password does not open a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// The HMAC differs: another password, or bytes that were changed.
    Hmac,
    /// The HMAC is right but the padding is not: made by something else than a vault.
    Padding,
}

/// Decrypts a vault that this password made.
pub(super) fn open(password: &[u8], sealed: &Envelope) -> Result<Zeroizing<Vec<u8>>, Rejected> {
    let keys = Keys::derive(password, &sealed.salt);
    keys.hmac(&sealed.ciphertext).verify_slice(&sealed.hmac).map_err(|_| Rejected::Hmac)?;
    let mut plaintext = Zeroizing::new(sealed.ciphertext.clone());
    keys.apply(&mut plaintext);
    let length = unpadded(&plaintext).ok_or(Rejected::Padding)?;
    plaintext.truncate(length);
    Ok(plaintext)
}

/// Encrypts plaintext under a new salt.
pub(super) fn seal(password: &[u8], plaintext: &[u8], header: Header) -> Result<Envelope> {
    let mut salt = vec![0; SALT];
    fill_random(&mut salt)?;
    let keys = Keys::derive(password, &salt);
    let mut ciphertext = padded(plaintext);
    keys.apply(&mut ciphertext);
    let hmac = keys.hmac(&ciphertext).finalize().into_bytes().to_vec();
    Ok(Envelope { header, salt, hmac, ciphertext })
}

/// What a password and a salt become.
struct Keys(Zeroizing<[u8; 80]>);

impl Keys {
    fn derive(password: &[u8], salt: &[u8]) -> Self {
        let mut bytes = Zeroizing::new([0; 80]);
        pbkdf2::derive(PBKDF2_HMAC_SHA256, ROUNDS, salt, password, &mut *bytes);
        Self(bytes)
    }

    fn hmac(&self, ciphertext: &[u8]) -> Hmac<Sha256> {
        let hmac = <Hmac<Sha256> as hmac::Mac>::new_from_slice(&self.0[32..64]);
        hmac.expect("an HMAC key may have any length").chain_update(ciphertext)
    }

    /// Encrypts or decrypts: in counter mode both are the same.
    fn apply(&self, bytes: &mut [u8]) {
        let cipher = Ctr128BE::<Aes256>::new_from_slices(&self.0[..32], &self.0[64..]);
        cipher.expect("32 bytes of key and 16 of counter").apply_keystream(bytes);
    }
}

/// Pads in a buffer of the final size, so that no copy of the plaintext stays behind.
fn padded(plaintext: &[u8]) -> Vec<u8> {
    let padding = BLOCK - plaintext.len() % BLOCK;
    let mut bytes = Vec::with_capacity(plaintext.len() + padding);
    bytes.extend_from_slice(plaintext);
    bytes.resize(plaintext.len() + padding, u8::try_from(padding).unwrap_or_default());
    bytes
}

/// Returns the length without padding, where the padding is right.
fn unpadded(bytes: &[u8]) -> Option<usize> {
    let last = *bytes.last()?;
    let length = bytes.len().checked_sub(usize::from(last))?;
    let right = (1..=BLOCK).contains(&usize::from(last)) && bytes.len().is_multiple_of(BLOCK);
    (right && bytes[length..].iter().all(|byte| *byte == last)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_with_the_same_password_only() {
        for length in [0, 1, 15, 16, 17] {
            let plaintext = vec![b'x'; length];

            let sealed = seal(b"right", &plaintext, Header::new("default")).expect("random bytes");

            assert_eq!(*open(b"right", &sealed).expect("the password"), plaintext);
            assert_eq!(open(b"wrong", &sealed), Err(Rejected::Hmac));
        }
    }

    #[test]
    fn the_same_plaintext_is_never_sealed_the_same_way_twice() {
        let seal = || seal(b"password", b"text", Header::new("default")).expect("random bytes");

        assert_ne!(seal().ciphertext, seal().ciphertext);
    }

    #[test]
    fn padding_is_one_to_sixteen_equal_bytes() {
        let good = |length: usize| padded(&vec![0; length]);

        assert_eq!(unpadded(&good(16)), Some(16));
        assert_eq!(unpadded(&good(0)), Some(0));
        for bad in [&[][..], &[0; 16], &[17; 32], &[16; 15], &[9, 2], &[1, 1, 2]] {
            assert_eq!(unpadded(bad), None, "{bad:?}");
        }
    }
}
