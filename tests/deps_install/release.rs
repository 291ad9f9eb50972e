//! A release made for a test: an archive, its list of digests, a signature by a fresh key.

use std::collections::BTreeMap;

use pgp::composed::{ArmorOptions, DetachedSignature, KeyType, SecretKeyParamsBuilder, SignedSecretKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::ser::Serialize;
use pgp::types::Password;
use sha2::{Digest, Sha256};

use crate::release_server::{Answer, ReleaseServer};

/// The files of one release, by path, before a server has them.
pub struct Release {
    pub files: BTreeMap<String, Answer>,
    pub key: SignedSecretKey,
}

impl Release {
    /// Makes a good release of 1.12.6 whose `tofu` is this text.
    pub fn of(tofu: &str) -> Self {
        let archive = pack(tofu);
        let list = format!("{:x}  {}\n", Sha256::digest(&archive), archive_name());
        let mut release = Self { files: BTreeMap::new(), key: fresh_key() };
        release.answer(&archive_name(), Answer::Whole(archive));
        release.list_and_sign(&list);
        release
    }

    /// Replaces the list of digests and signs it again.
    pub fn list_and_sign(&mut self, list: &str) {
        let signature = sign(&self.key, list.as_bytes());
        self.answer(LIST, Answer::Whole(list.as_bytes().to_vec()));
        self.answer(SIGNATURE, Answer::Whole(signature));
    }

    /// Decides how a file of the release is answered.
    pub fn answer(&mut self, file: &str, answer: Answer) {
        self.files.insert(format!("/v1.12.6/{file}"), answer);
    }

    /// Returns the public key as `ReleaseSource` takes it.
    pub fn armored_key(&self) -> String {
        self.key.to_public_key().to_armored_string(ArmorOptions::default()).expect("a key is text")
    }

    /// Puts the release onto a server.
    pub async fn serve(&self) -> ReleaseServer {
        ReleaseServer::start(self.files.clone(), 404).await
    }
}

pub const LIST: &str = "tofu_1.12.6_SHA256SUMS";
pub const SIGNATURE: &str = "tofu_1.12.6_SHA256SUMS.gpgsig";

/// Returns the archive's name for the machine that runs the tests.
pub fn archive_name() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("tofu_1.12.6_{system}_{machine}.tar.gz")
}

/// Packs an archive as releases have it: a licence, and the binary.
pub fn pack(tofu: &str) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(encoder);
    for (name, content) in [("LICENSE", "words"), ("tofu", tofu)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content.as_bytes()).expect("memory has room");
    }
    archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("memory has room")
}

/// Signs bytes as `gpg --detach-sign` does.
pub fn sign(key: &SignedSecretKey, bytes: &[u8]) -> Vec<u8> {
    let (rng, password) = (rand::thread_rng(), Password::empty());
    let made =
        DetachedSignature::sign_binary_data(rng, &key.primary_key, &password, HashAlgorithm::Sha256, bytes);
    made.and_then(|signature| signature.to_bytes()).expect("a fresh key can sign")
}

/// Makes a key that nobody knows.
pub fn fresh_key() -> SignedSecretKey {
    let mut key = SecretKeyParamsBuilder::default();
    key.key_type(KeyType::Ed25519Legacy)
        .can_certify(true)
        .can_sign(true)
        .primary_user_id("release".to_owned());
    key.build().expect("all parts are set").generate(rand::thread_rng()).expect("a key")
}
