//! `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`: one value, encrypted and decrypted.
//!
//! AES-256-GCM with the 32-byte IV of sops; the tag stands apart from the data. What was
//! decrypted leaves its IV behind, so that an unchanged value can be written unchanged.

use std::collections::{HashMap, VecDeque};

use aes_gcm::aead::consts::U32;
use aes_gcm::aead::generic_array::GenericArray;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{AesGcm, aes::Aes256};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::keys::DataKey;
use super::plaintext::{Label, Plaintext};
use super::refusal::refused;
use crate::error::{Error, Result};
use crate::process::fill_random;

const PREFIX: &str = "ENC[AES256_GCM,data:";
const IV_LENGTH: usize = 32;
const TAG_LENGTH: usize = 16;

/// The IV of a value.
type Iv = [u8; IV_LENGTH];

/// Encrypts and decrypts values with one data key.
pub(super) struct Cipher(Box<AesGcm<Aes256, U32>>);

impl Cipher {
    /// Makes the cipher of a data key.
    pub fn new(key: &DataKey) -> Self {
        Self(Box::new(AesGcm::new(GenericArray::from_slice(key.bytes()))))
    }

    /// Decrypts what a file holds and remembers its IV; an empty text stands for itself.
    pub fn open(&self, sealed: &str, aad: &str, ivs: &mut Ivs) -> Result<Plaintext> {
        if sealed.is_empty() {
            return Ok(Plaintext { label: Label::Str, bytes: Zeroizing::default() });
        }
        let sealed = Sealed::parse(sealed)?;
        let payload = Payload { msg: &sealed.data_and_tag, aad: aad.as_bytes() };
        let bytes = self.0.decrypt(GenericArray::from_slice(&sealed.iv), payload);
        let bytes =
            bytes.map_err(|_| refused("the value was changed, or was encrypted for another place"))?;
        let plain = Plaintext { label: sealed.label, bytes: Zeroizing::new(bytes) };
        ivs.remember(aad, &plain, sealed.iv);
        Ok(plain)
    }

    /// Encrypts a plaintext with the IV it had, or with a new one.
    pub fn seal(&self, plain: &Plaintext, aad: &str, ivs: &mut Ivs) -> Result<String> {
        if plain.bytes.is_empty() {
            return Ok(String::new());
        }
        let (iv, label) = match ivs.take(aad, plain) {
            Some(known) => known,
            None => (new_iv()?, plain.label),
        };
        let payload = Payload { msg: &plain.bytes, aad: aad.as_bytes() };
        let sealed = self.0.encrypt(GenericArray::from_slice(&iv), payload);
        let sealed = sealed.map_err(|_| refused("the value is too large to be encrypted"))?;
        let (data, tag) = sealed.split_at(sealed.len().saturating_sub(TAG_LENGTH));
        let [data, iv, tag] = [data, &iv, tag].map(|bytes| STANDARD.encode(bytes));
        Ok(format!("{PREFIX}{data},iv:{iv},tag:{tag},type:{}]", label.word()))
    }
}

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cipher(hidden)")
    }
}

/// Tells whether a text has the form of an encrypted value.
pub(super) fn looks_sealed(text: &str) -> bool {
    Sealed::parse(text).is_ok()
}

/// The parts of an encrypted value.
struct Sealed {
    data_and_tag: Vec<u8>,
    iv: Iv,
    label: Label,
}

impl Sealed {
    fn parse(text: &str) -> Result<Self> {
        let inner = text.trim_end().strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(']'));
        let inner = inner.ok_or_else(|| refused("the value is not encrypted"))?;
        let (data, rest) = inner.split_once(",iv:").ok_or_else(|| damaged("iv"))?;
        let (iv, rest) = rest.split_once(",tag:").ok_or_else(|| damaged("tag"))?;
        let (tag, label) = rest.split_once(",type:").ok_or_else(|| damaged("type"))?;
        let mut data_and_tag = decode(data, "data")?;
        let tag = decode(tag, "tag")?;
        if tag.len() != TAG_LENGTH {
            return Err(damaged("tag"));
        }
        data_and_tag.extend_from_slice(&tag);
        let iv = decode(iv, "iv")?.try_into().map_err(|_| damaged("iv"))?;
        let label = Label::parse(label).ok_or_else(|| damaged("type"))?;
        Ok(Self { data_and_tag, iv, label })
    }
}

fn decode(text: &str, part: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| damaged(part))
}

fn damaged(part: &str) -> Error {
    refused(format!("the `{part}` of the value is damaged or missing"))
}

fn new_iv() -> Result<Iv> {
    let mut iv = [0; IV_LENGTH];
    fill_random(&mut iv)?;
    Ok(iv)
}

/// The IVs of the values that were decrypted, by place and plaintext.
///
/// Items of a list share their place, so equal items queue up: each IV is given out once.
/// The plaintext itself is not kept, only a digest of it.
#[derive(Clone, Default)]
pub(super) struct Ivs(HashMap<[u8; 32], VecDeque<(Iv, Label)>>);

impl Ivs {
    /// Keeps an IV if the value would be written with the very same bytes again; an IV must
    /// never serve two plaintexts.
    fn remember(&mut self, aad: &str, plain: &Plaintext, iv: Iv) {
        if is_canonical(plain) {
            self.0.entry(digest(aad, plain)).or_default().push_back((iv, plain.label));
        }
    }

    fn take(&mut self, aad: &str, plain: &Plaintext) -> Option<(Iv, Label)> {
        self.0.get_mut(&digest(aad, plain))?.pop_front()
    }
}

impl std::fmt::Debug for Ivs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Ivs({} places)", self.0.len())
    }
}

fn is_canonical(plain: &Plaintext) -> bool {
    if plain.label == Label::Comment {
        return true;
    }
    let copy = Plaintext { label: plain.label, bytes: plain.bytes.clone() };
    let value = copy.into_value().ok();
    value.as_ref().and_then(Plaintext::of).is_some_and(|again| again.bytes == plain.bytes)
}

/// Names a plaintext at a place without keeping it.
pub(super) fn digest(aad: &str, plain: &Plaintext) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(aad.len().to_le_bytes());
    hash.update(aad);
    hash.update(plain.label.family().word());
    hash.update([0]);
    hash.update(&*plain.bytes);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cipher() -> Cipher {
        Cipher::new(&DataKey::from_bytes(&[9; 32]).unwrap())
    }

    fn text(text: &str) -> Plaintext {
        Plaintext { label: Label::Str, bytes: Zeroizing::new(text.as_bytes().to_vec()) }
    }

    #[test]
    fn a_value_opens_only_at_its_own_place() {
        let sealed = cipher().seal(&text("hunter2"), "db:password:", &mut Ivs::default()).unwrap();

        let opened = cipher().open(&sealed, "db:password:", &mut Ivs::default()).unwrap();
        let moved = cipher().open(&sealed, "db:user:", &mut Ivs::default());

        assert_eq!(opened.bytes.as_slice(), b"hunter2");
        assert!(moved.is_err());
        assert!(sealed.starts_with("ENC[AES256_GCM,data:") && sealed.ends_with(",type:str]"));
    }

    #[test]
    fn an_unchanged_value_is_written_with_the_bytes_it_had() {
        let first = cipher().seal(&text("same"), "a:", &mut Ivs::default()).unwrap();
        let second = cipher().seal(&text("same"), "a:", &mut Ivs::default()).unwrap();
        let mut ivs = Ivs::default();
        cipher().open(&first, "a:", &mut ivs).unwrap();
        cipher().open(&second, "a:", &mut ivs).unwrap();

        let again = [(); 3].map(|()| cipher().seal(&text("same"), "a:", &mut ivs).unwrap());

        assert_eq!(again[..2], [first.clone(), second.clone()]);
        assert!(again[2] != first && again[2] != second);
    }

    #[test]
    fn an_iv_never_serves_a_second_plaintext() {
        let padded = Plaintext { label: Label::Float, bytes: Zeroizing::new(b"1.50".to_vec()) };
        let sealed = cipher().seal(&padded, "a:", &mut Ivs::default()).unwrap();
        let mut ivs = Ivs::default();

        let value = cipher().open(&sealed, "a:", &mut ivs).unwrap().into_value().unwrap();
        let again = cipher().seal(&Plaintext::of(&value).unwrap(), "a:", &mut ivs).unwrap();

        let iv = |sealed: &str| Sealed::parse(sealed).unwrap().iv;
        assert_ne!(iv(&again), iv(&sealed));
    }

    #[test]
    fn a_number_keeps_the_label_that_the_file_has() {
        let float = Plaintext { label: Label::Float, bytes: Zeroizing::new(b"42".to_vec()) };
        let sealed = cipher().seal(&float, "port:", &mut Ivs::default()).unwrap();
        let mut ivs = Ivs::default();
        cipher().open(&sealed, "port:", &mut ivs).unwrap();

        let int = Plaintext { label: Label::Int, bytes: Zeroizing::new(b"42".to_vec()) };

        assert_eq!(cipher().seal(&int, "port:", &mut ivs).unwrap(), sealed);
    }

    #[test]
    fn whatever_is_no_encrypted_value_is_refused() {
        let sealed = cipher().seal(&text("hunter2"), "a:", &mut Ivs::default()).unwrap();

        for cut in 1..sealed.len() {
            assert!(cipher().open(&sealed[..cut], "a:", &mut Ivs::default()).is_err(), "cut at {cut}");
        }
        for odd in ["ENC[]", "ENC[AES256_GCM,data:,iv:,tag:,type:]", "plain", "ENC[AES256_GCM,data:é]"] {
            assert!(cipher().open(odd, "a:", &mut Ivs::default()).is_err(), "{odd}");
        }
        assert!(cipher().open("", "a:", &mut Ivs::default()).unwrap().bytes.is_empty());
    }
}
