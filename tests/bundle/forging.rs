//! Bundles made by hand: everything in one can be changed by whoever knows its recipient.

use std::io::{Read as _, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use infra::tofu::PlanKey;
use serde_json::Value;

use crate::jobs::Repository;

const HEADING: &[u8] = b"infra-bundle-1\n";

/// Opens a bundle, lets it be changed, and encrypts it again.
pub fn forge(repository: &Repository, bundle: &Path, change: impl FnOnce(&mut Value)) {
    let mut content = open(repository, bundle);
    change(&mut content);
    seal(repository, bundle, &content);
}

/// Puts another plan file, in the clear as tofu writes it, in the place of the first one.
pub fn smuggle(repository: &Repository, bundle: &Path, plan: &Path) {
    let plan = std::fs::read(plan).expect("a plan");
    assert!(plan.starts_with(b"PK"), "a plan in the clear");
    forge(repository, bundle, |content| {
        let key: PlanKey = serde_json::from_value(content["key"].clone()).expect("a key");
        content["plans"][0]["plan"] = STANDARD.encode(key.seal(&plan).expect("an envelope")).into();
    });
}

/// Returns the plan file of the first stack in the clear.
pub fn plan_in(repository: &Repository, bundle: &Path) -> Vec<u8> {
    let content = open(repository, bundle);
    let key: PlanKey = serde_json::from_value(content["key"].clone()).expect("a key");
    let sealed = STANDARD.decode(content["plans"][0]["plan"].as_str().expect("text")).expect("base64");
    key.open(&sealed).expect("a plan").to_vec()
}

fn open(repository: &Repository, bundle: &Path) -> Value {
    let identity: age::x25519::Identity = repository.key.secret.parse().expect("a key");
    let bytes = age::decrypt(&identity, &std::fs::read(bundle).expect("a bundle")).expect("opened");
    let packed = bytes.strip_prefix(HEADING).expect("the heading");
    let mut json = String::new();
    DeflateDecoder::new(packed).read_to_string(&mut json).expect("unpacked");
    serde_json::from_str(&json).expect("JSON")
}

/// Encrypts anything as a bundle.
pub fn seal(repository: &Repository, bundle: &Path, content: &Value) {
    let mut packed = DeflateEncoder::new(HEADING.to_vec(), Compression::fast());
    packed.write_all(content.to_string().as_bytes()).expect("packed");
    seal_bytes(repository, bundle, &packed.finish().expect("packed"));
}

/// Encrypts bytes that are no bundle.
pub fn seal_bytes(repository: &Repository, bundle: &Path, bytes: &[u8]) {
    let recipient: age::x25519::Recipient = repository.key.recipient.parse().expect("a recipient");
    std::fs::write(bundle, age::encrypt(&recipient, bytes).expect("encrypted")).expect("written");
}
