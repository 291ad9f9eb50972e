//! The envelope of an encrypted state: told from a plain one, opened with a passphrase, and
//! made as tofu makes it.
//!
//! Only what this program itself asks tofu for is known: pbkdf2 and AES-GCM. Needed where
//! tofu cannot help: old versions of a state, what a broken run left behind, and a state
//! that is to be stored under exactly the serial it has.

use std::num::NonZeroU32;

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use aws_lc_rs::pbkdf2::{self, PBKDF2_HMAC_SHA512};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::encryption::{PLAN_KEY, StateKey};
use crate::error::{Error, Kind, Result};
use crate::process::fill_random;

/// How a key is derived where nothing else is asked for, as tofu does it.
const ITERATIONS: u32 = 600_000;
const KEY_LENGTH: usize = 32;

/// How many bytes stand before the ciphertext.
pub(super) const NONCE: usize = 12;

/// The most rounds of key derivation that are done for a file that asks for them.
const MOST_ITERATIONS: u32 = 10_000_000;

#[derive(Deserialize)]
struct Envelope {
    meta: Map<String, Value>,
    encrypted_data: String,
}

#[derive(Deserialize, Serialize)]
struct Derivation {
    salt: String,
    iterations: u32,
    hash_function: String,
    key_length: usize,
}

/// What a plan file is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PlanForm {
    /// As tofu writes it without encryption.
    Plain,
    /// Encrypted with the key of a user, which has this mark.
    UserKey(String),
    /// Encrypted with the key that has this name.
    Passphrase(String),
    /// Encrypted in another way, or no plan at all.
    Other,
}

impl PlanForm {
    /// How much of a file is enough to tell.
    pub const HEAD: u64 = 1 << 16;

    /// Tells by how a file begins: tofu writes first what a plan is encrypted with.
    pub fn of(head: &[u8]) -> Self {
        if head.starts_with(b"PK") {
            return Self::Plain;
        }
        let Some(rest) = head.strip_prefix(b"{\"meta\":") else { return Self::Other };
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Map<String, Value>>();
        let Some(Ok(meta)) = values.next() else { return Self::Other };
        let user_key = format!("key_provider.external.{PLAN_KEY}");
        if let Some(parameters) = meta.get(&user_key) {
            return Self::UserKey(mark_in(parameters).unwrap_or_default());
        }
        let name = meta.keys().find_map(|name| name.strip_prefix("key_provider.pbkdf2."));
        name.map_or(Self::Other, |name| Self::Passphrase(name.to_owned()))
    }
}

/// Returns the mark that the command of the key left in a plan.
fn mark_in(parameters: &Value) -> Option<String> {
    let parameters: Value = serde_json::from_slice(&STANDARD.decode(parameters.as_str()?).ok()?).ok()?;
    parameters.pointer("/external_data/key")?.as_str().map(str::to_owned)
}

/// Returns whether bytes are an encrypted state.
pub fn is_encrypted(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|state| state.get("encrypted_data").is_some())
}

/// Opens an encrypted state; a plain one is returned as it is.
pub fn open_state(bytes: &[u8], passphrase: Option<&str>) -> Result<Zeroizing<Vec<u8>>> {
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

/// Encrypts a state with a key, as tofu does with the setting of that key.
pub fn seal_state(plain: &[u8], key: &StateKey) -> Result<Vec<u8>> {
    let state: Value =
        serde_json::from_slice(plain).map_err(|error| Error::invalid("it is no state").because(error))?;
    let (meta, data) = seal_with_passphrase(plain, key)?;
    let envelope = json!({
        "serial": state["serial"],
        "lineage": state["lineage"],
        "meta": meta,
        "encrypted_data": data,
        "encryption_version": "v0",
    });
    Ok(envelope.to_string().into_bytes())
}

/// Encrypts with a key that is derived anew from a passphrase; returns how it is derived, and the rest.
pub(super) fn seal_with_passphrase(plain: &[u8], key: &StateKey) -> Result<(Value, String)> {
    let mut salt = [0; KEY_LENGTH];
    fill_random(&mut salt)?;
    let parameters = Derivation {
        salt: STANDARD.encode(salt),
        iterations: ITERATIONS,
        hash_function: "sha512".to_owned(),
        key_length: KEY_LENGTH,
    };
    let data = seal_data(plain, &derive(key.passphrase(), &parameters)?)?;
    let parameters = serde_json::to_vec(&parameters)
        .map_err(|error| Error::bug("the parameters of a key have no JSON form").because(error))?;
    let name = format!("key_provider.pbkdf2.{}", key.name());
    Ok((json!({name: STANDARD.encode(parameters)}), data))
}

/// Encrypts as tofu does: a nonce, the ciphertext and its tag.
pub(super) fn seal_data(plain: &[u8], key: &[u8]) -> Result<String> {
    let mut nonce = [0; NONCE];
    fill_random(&mut nonce)?;
    let cipher = Aes256Gcm::new_from_slice(key).map_err(|_| unknown())?;
    let sealed = cipher.encrypt(Nonce::from_slice(&nonce), plain).map_err(|_| unknown())?;
    Ok(STANDARD.encode([&nonce[..], &sealed].concat()))
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
    let rounds = NonZeroU32::new(parameters.iterations).ok_or_else(unknown)?;
    pbkdf2::derive(PBKDF2_HMAC_SHA512, rounds, &salt, passphrase.as_bytes(), &mut key);
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

        assert_eq!(
            open_state(&bytes, Some("a-long-passphrase")).expect("plain").as_slice(),
            b"{\"version\":4}"
        );
        assert_eq!(open_state(&bytes, Some("another")).expect_err("refused").kind(), Kind::Refused);
        assert_eq!(open_state(&bytes, None).expect_err("refused").kind(), Kind::Refused);
    }

    #[test]
    fn the_form_of_a_plan_is_told_by_its_envelope() {
        let meta = |name: &str, text: &str| {
            let meta = STANDARD.encode(text);
            format!(r#"{{"meta":{{"{name}":"{meta}"}},"encrypted_data":"AA==","encryption_version":"v0"}}"#)
        };
        let user_key = meta("key_provider.external.infra_plan", r#"{"external_data":{"key":"ab"}}"#);
        let passphrase = meta("key_provider.pbkdf2.infra_0102", "{}");

        assert_eq!(PlanForm::of(b"PK\x03\x04"), PlanForm::Plain);
        assert_eq!(PlanForm::of(user_key.as_bytes()), PlanForm::UserKey("ab".to_owned()));
        assert_eq!(PlanForm::of(passphrase.as_bytes()), PlanForm::Passphrase("infra_0102".to_owned()));
        for nonsense in ["", "damaged", "[]", r#"{"meta":{}}"#, r#"{"meta":1}"#] {
            assert_eq!(PlanForm::of(nonsense.as_bytes()), PlanForm::Other, "{nonsense}");
        }
    }

    #[test]
    fn what_is_sealed_opens_again_and_shows_its_serial_and_lineage() {
        let (plain, key) = (
            br#"{"version":4,"serial":3,"lineage":"l","outputs":{"a":"hunter2"}}"#,
            StateKey::new(Zeroizing::new("a-long-passphrase".to_owned())),
        );

        let sealed = seal_state(plain, &key).expect("an envelope");

        assert_eq!(open_state(&sealed, Some("a-long-passphrase")).expect("plain").as_slice(), plain);
        let envelope: Value = serde_json::from_slice(&sealed).expect("JSON");
        assert_eq!((envelope["serial"].as_u64(), envelope["lineage"].as_str()), (Some(3), Some("l")));
        assert!(seal_state(b"nonsense", &key).is_err());
    }

    #[test]
    fn a_plain_state_is_returned_as_it_is_and_a_broken_envelope_is_refused() {
        assert_eq!(open_state(b"{\"version\":4}", None).expect("plain").as_slice(), b"{\"version\":4}");
        for broken in [
            r#"{"encrypted_data":1}"#,
            r#"{"encrypted_data":"AA==","meta":{}}"#,
            r#"{"encrypted_data":"!","meta":{}}"#,
        ] {
            assert!(open_state(broken.as_bytes(), Some("x")).is_err(), "{broken}");
        }
    }
}
