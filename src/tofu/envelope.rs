//! The envelope of an encrypted state: told from a plain one, and opened with a passphrase.
//!
//! Only what this program itself asks tofu for is opened: pbkdf2 and AES-GCM. Needed where
//! tofu cannot help: old versions of a state, and what a broken run left behind.

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::Sha512;
use zeroize::Zeroizing;

use crate::error::{Error, Kind, Result};

/// How many bytes stand before the ciphertext.
const NONCE: usize = 12;

/// The most rounds of key derivation that are done for a file that asks for them.
const MOST_ITERATIONS: u32 = 10_000_000;

#[derive(Deserialize)]
struct Envelope {
    meta: Map<String, Value>,
    encrypted_data: String,
}

#[derive(Deserialize)]
struct Derivation {
    salt: String,
    iterations: u32,
    hash_function: String,
    key_length: usize,
}

/// Returns whether bytes are an encrypted state.
pub fn is_encrypted(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|state| state.get("encrypted_data").is_some())
}

/// Opens an encrypted state; a plain one is returned as it is.
pub fn open(bytes: &[u8], passphrase: Option<&str>) -> Result<Zeroizing<Vec<u8>>> {
    if !is_encrypted(bytes) {
        return Ok(Zeroizing::new(bytes.to_vec()));
    }
    let passphrase = passphrase.ok_or_else(|| {
        refused("the state is encrypted, and there is no passphrase")
            .hint("put `state_encryption_passphrase` into the stack's secrets")
    })?;
    let envelope: Envelope = serde_json::from_slice(bytes).map_err(|error| unknown().because(error))?;
    let sealed = STANDARD.decode(&envelope.encrypted_data).map_err(|error| unknown().because(error))?;
    let Some((nonce, sealed)) = sealed.split_at_checked(NONCE) else { return Err(unknown()) };
    for parameters in envelope.meta.values().filter_map(derivation) {
        let key = derive(passphrase, &parameters)?;
        let cipher = Aes256Gcm::new_from_slice(key.as_slice()).map_err(|_| unknown())?;
        if let Ok(plain) = cipher.decrypt(Nonce::from_slice(nonce), sealed) {
            return Ok(Zeroizing::new(plain));
        }
    }
    Err(refused("the state is encrypted with another passphrase").hint(
        "it is opened with `state_encryption_passphrase`; versions from before a rotation need the old one",
    ))
}

fn derivation(value: &Value) -> Option<Derivation> {
    serde_json::from_slice(&STANDARD.decode(value.as_str()?).ok()?).ok()
}

fn derive(passphrase: &str, parameters: &Derivation) -> Result<Zeroizing<Vec<u8>>> {
    let known = parameters.hash_function == "sha512" && parameters.key_length == 32;
    if !known || parameters.iterations > MOST_ITERATIONS {
        return Err(unknown());
    }
    let salt = STANDARD.decode(&parameters.salt).map_err(|error| unknown().because(error))?;
    let mut key = Zeroizing::new(vec![0; parameters.key_length]);
    pbkdf2::pbkdf2_hmac::<Sha512>(passphrase.as_bytes(), &salt, parameters.iterations, &mut key);
    Ok(key)
}

fn unknown() -> Error {
    refused("the state is encrypted in a way that this program does not know")
}

fn refused(message: &str) -> Error {
    Error::new(Kind::Refused, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(passphrase: &str, plain: &[u8]) -> Vec<u8> {
        let salt = STANDARD.encode([7; 32]);
        let parameters =
            serde_json::json!({"salt": salt, "iterations": 10, "hash_function": "sha512", "key_length": 32});
        let meta = STANDARD.encode(parameters.to_string());
        let key = derive(passphrase, &derivation(&meta.clone().into()).expect("parameters")).expect("a key");
        let cipher = Aes256Gcm::new_from_slice(&key).expect("a cipher");
        let mut data = vec![9; NONCE];
        data.extend(cipher.encrypt(Nonce::from_slice(&[9; NONCE]), plain).expect("ciphertext"));
        let envelope = serde_json::json!({"serial": 1, "meta": {"key_provider.pbkdf2.x": meta}, "encrypted_data": STANDARD.encode(data)});
        envelope.to_string().into_bytes()
    }

    #[test]
    fn an_envelope_opens_with_its_passphrase_only() {
        let bytes = sealed("a-long-passphrase", b"{\"version\":4}");

        assert_eq!(open(&bytes, Some("a-long-passphrase")).expect("plain").as_slice(), b"{\"version\":4}");
        assert_eq!(open(&bytes, Some("another")).expect_err("refused").kind(), Kind::Refused);
        assert_eq!(open(&bytes, None).expect_err("refused").kind(), Kind::Refused);
    }

    #[test]
    fn a_plain_state_is_returned_as_it_is_and_a_broken_envelope_is_refused() {
        assert_eq!(open(b"{\"version\":4}", None).expect("plain").as_slice(), b"{\"version\":4}");
        for broken in [
            r#"{"encrypted_data":1}"#,
            r#"{"encrypted_data":"AA==","meta":{}}"#,
            r#"{"encrypted_data":"!","meta":{}}"#,
        ] {
            assert!(open(broken.as_bytes(), Some("x")).is_err(), "{broken}");
        }
    }
}
