//! Generated documents against the real sops: what one encrypts, the other decrypts to the same.
//!
//! The cases are the same in every run; `PROPTEST_CASES` asks for more of them.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "sops_properties/documents.rs"]
mod documents;
#[path = "sops_properties/key_groups.rs"]
mod key_groups;
#[path = "sops_properties/spelling.rs"]
mod spelling;
#[expect(dead_code, reason = "shared with other tests")]
#[path = "support/tools.rs"]
mod tools;

use std::path::Path;

use documents::{Flavour, document};
use infra::model::Environment;
use infra::secrets::identities::Identities;
use infra::secrets::sops::Format;
use infra::secrets::sops::creation_rules::{CreationRule, rule_for};
use infra::secrets::sops::stores::Layout;
use infra::secrets::sops::{Input, SopsFile, encrypt_new};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tools::AgeKey;
use zeroize::Zeroizing;

/// Each case starts sops three times.
const CASES: u32 = 24;

/// A folder in which the real sops runs, and the key that both use.
struct Lab {
    dir: tempfile::TempDir,
    key: AgeKey,
    name: &'static str,
}

impl Lab {
    fn new(name: &'static str) -> Self {
        Self { dir: tempfile::tempdir().unwrap(), key: AgeKey::new(), name }
    }

    fn input<'a>(&self, bytes: &'a [u8]) -> Input<'a> {
        let format = Format::of_path(Path::new(self.name));
        Input { name: self.name, format, bytes, layout: Layout::default() }
    }

    fn rule(&self) -> CreationRule {
        let env = Environment::default().with("SOPS_AGE_RECIPIENTS", &self.key.recipient);
        rule_for(None, &self.dir.path().join(self.name), &env).unwrap()
    }

    fn sops(&self, bytes: &[u8], arguments: &[&str]) -> Result<Vec<u8>, TestCaseError> {
        std::fs::write(self.dir.path().join(self.name), bytes).unwrap();
        let output = self.key.run_sops(self.dir.path(), &[arguments, &[self.name]].concat());
        prop_assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        Ok(output.stdout)
    }

    fn encrypted_by_sops(&self, plain: &[u8]) -> Result<Vec<u8>, TestCaseError> {
        self.sops(plain, &["-e", "--age", &self.key.recipient])
    }

    fn decrypted_by_sops(&self, encrypted: &[u8]) -> Result<Vec<u8>, TestCaseError> {
        self.sops(encrypted, &["-d"])
    }

    fn encrypted_here(&self, plain: &[u8]) -> Result<Vec<u8>, TestCaseError> {
        encrypt_new(self.input(plain), &self.rule(), "2026-01-02T03:04:05Z".parse().unwrap()).map_err(failed)
    }

    fn decrypted_here(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, TestCaseError> {
        let mut identities = Identities::none(&|_| None);
        identities.add("`SOPS_AGE_KEY`", self.key.secret.as_bytes());
        SopsFile::open(self.input(encrypted), &identities).and_then(|file| file.plaintext()).map_err(failed)
    }

    /// Lets each decrypt what the other encrypted; sops after sops says what is right.
    fn agree_on(&self, plain: &str) -> Result<(), TestCaseError> {
        let theirs = self.encrypted_by_sops(plain.as_bytes())?;
        let ours = self.encrypted_here(plain.as_bytes())?;
        let expected = text(&self.decrypted_by_sops(&theirs)?);

        prop_assert_eq!(text(&self.decrypted_here(&theirs)?), &*expected, "sops to us, of:\n{}", plain);
        prop_assert_eq!(text(&self.decrypted_by_sops(&ours)?), &*expected, "us to sops, of:\n{}", plain);
        prop_assert_eq!(text(&self.decrypted_here(&ours)?), &*expected, "us to us, of:\n{}", plain);
        Ok(())
    }
}

fn failed(error: infra::error::Error) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a property over the same cases each time: a test that fails must fail again.
fn check(texts: impl Strategy<Value = String>, lab: &Lab) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok());
    let config = Config {
        cases: cases.unwrap_or(CASES),
        failure_persistence: None,
        max_shrink_iters: 100,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&texts, |plain| lab.agree_on(&plain));

    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}

#[test]
fn both_agree_on_every_generated_yaml() {
    let documents = prop::collection::vec(document(Flavour::Yaml), 1..3);

    check(documents.prop_map(|documents| spelling::yaml(&documents)), &Lab::new("a.yaml"));
}

#[test]
fn both_agree_on_every_generated_json() {
    check(document(Flavour::Json).prop_map(|document| spelling::json(&document)), &Lab::new("a.json"));
}
