//! The envelope of an encrypted plan file, opened and made here as tofu does it.
//!
//! Needed where a plan goes from one machine to another: what is in it is looked at in memory, and it
//! gets another key without ever lying on a disk in the clear.

use aes_gcm::aead::Aead as _;
use aes_gcm::{Aes256Gcm, KeyInit as _, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::encryption::{PLAN_KEY, StateKey};
use super::envelope::{NONCE, seal_data, seal_with_passphrase};
use crate::error::Result;
use crate::model::hex;
use crate::process::fill_random;

/// Bytes of a key.
const SIZE: usize = 32;

/// A key that plans are encrypted with, and the mark by which it is known.
#[derive(Clone)]
pub struct PlanKey {
    bytes: Zeroizing<[u8; SIZE]>,
    mark: String,
}

/// Shows the mark only.
impl std::fmt::Debug for PlanKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PlanKey").field(&self.mark).finish()
    }
}

/// As text: the mark and the key, for a place that nobody else can read.
impl Serialize for PlanKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text =
            Zeroizing::new(format!("{} {}", self.mark, *Zeroizing::new(STANDARD.encode(self.bytes()))));
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for PlanKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Zeroizing::new(String::deserialize(deserializer)?);
        let (mark, key) = text.split_once(' ').unwrap_or_default();
        let bytes = STANDARD.decode(key).ok().map(Zeroizing::new);
        let bytes = bytes.and_then(|bytes| <[u8; SIZE]>::try_from(bytes.as_slice()).ok());
        let bytes = bytes.ok_or_else(|| D::Error::custom("it is no key"))?;
        Ok(Self { bytes: Zeroizing::new(bytes), mark: mark.to_owned() })
    }
}

#[derive(Deserialize)]
struct Envelope {
    encrypted_data: String,
}

impl PlanKey {
    /// Makes a new one.
    pub fn fresh() -> Result<Self> {
        let (mut bytes, mut mark) = (Zeroizing::new([0; SIZE]), [0; 8]);
        fill_random(bytes.as_mut_slice())?;
        fill_random(&mut mark)?;
        Ok(Self { bytes, mark: hex(&mark) })
    }

    /// Takes one that is kept elsewhere.
    pub const fn of(bytes: Zeroizing<[u8; SIZE]>, mark: String) -> Self {
        Self { bytes, mark }
    }

    /// Returns the key itself.
    pub fn bytes(&self) -> &[u8; SIZE] {
        &self.bytes
    }

    /// Returns what tells it from others.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// Encrypts a plan, so that tofu opens it with this key.
    pub fn seal(&self, plain: &[u8]) -> Result<Vec<u8>> {
        let parameters = json!({"external_data": {"key": self.mark}}).to_string();
        let meta = json!({format!("key_provider.external.{PLAN_KEY}"): STANDARD.encode(parameters)});
        Ok(envelope(&meta, &seal_data(plain, self.bytes.as_slice())?))
    }

    /// Opens a plan; nothing if it was not encrypted with this key, or is damaged.
    pub fn open(&self, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let envelope: Envelope = serde_json::from_slice(sealed).ok()?;
        let data = STANDARD.decode(envelope.encrypted_data).ok()?;
        let (nonce, data) = data.split_at_checked(NONCE)?;
        let cipher = Aes256Gcm::new_from_slice(self.bytes.as_slice()).ok()?;
        cipher.decrypt(Nonce::from_slice(nonce), data).ok().map(Zeroizing::new)
    }
}

/// Encrypts a plan with a passphrase, so that tofu opens it with that.
pub fn seal_plan_with(plain: &[u8], key: &StateKey) -> Result<Vec<u8>> {
    let (meta, data) = seal_with_passphrase(plain, key)?;
    Ok(envelope(&meta, &data))
}

/// What a plan is encrypted with stands first.
fn envelope(meta: &Value, data: &str) -> Vec<u8> {
    json!({"meta": meta, "encrypted_data": data, "encryption_version": "v0"}).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tofu::envelope::{PlanForm, open_state};

    #[test]
    fn a_plan_opens_with_its_key_only_and_says_which_that_is() {
        let (one, other) = (PlanKey::fresh().expect("a key"), PlanKey::fresh().expect("a key"));

        let sealed = one.seal(b"PK plan").expect("an envelope");

        assert_eq!(PlanForm::of(&sealed), PlanForm::UserKey(one.mark().to_owned()));
        assert_eq!(one.open(&sealed).expect("the plan").as_slice(), b"PK plan");
        assert!(other.open(&sealed).is_none());
        assert!(!format!("{one:?}").contains(&hex(one.bytes())));
    }

    #[test]
    fn a_plan_with_a_passphrase_is_known_by_its_name_and_nonsense_opens_with_nothing() {
        let key = StateKey::new(Zeroizing::new("a-long-passphrase".to_owned()));

        let sealed = seal_plan_with(b"PK plan", &key).expect("an envelope");

        assert_eq!(PlanForm::of(&sealed), PlanForm::Passphrase(key.name().to_owned()));
        assert_eq!(open_state(&sealed, Some(key.passphrase())).expect("the plan").as_slice(), b"PK plan");
        for odd in ["", "{}", r#"{"encrypted_data":"AA=="}"#, r#"{"encrypted_data":"?"}"#] {
            assert!(PlanKey::fresh().expect("a key").open(odd.as_bytes()).is_none(), "{odd}");
        }
    }
}
