//! Any bytes as a plain file of every format: what can be encrypted decrypts to the same.

#![no_main]

use std::sync::LazyLock;

use age::secrecy::ExposeSecret as _;
use infra::secrets::identities::Identities;
use infra::secrets::sops::creation_rules::{CreationRule, GroupRule};
use infra::secrets::sops::Format;
use infra::secrets::sops::stores::{self, Layout};
use infra::secrets::sops::{Input, MacScope, Selection, SopsFile, encrypt_new};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use zeroize::Zeroizing;

static KEY: LazyLock<age::x25519::Identity> = LazyLock::new(age::x25519::Identity::generate);

fn nobody(_: &str) -> Option<Zeroizing<String>> {
    None
}

fuzz_target!(|bytes: &[u8]| {
    Format::ALL.into_iter().for_each(|format| round_trip(format, bytes));
});

fn round_trip(format: Format, bytes: &[u8]) {
    let input = Input { name: "any", format, bytes, layout: Layout::default() };
    let Ok(sealed) = encrypt_new(input, &rule(), Timestamp::UNIX_EPOCH) else { return };
    let shown = String::from_utf8_lossy(&sealed);
    let mut identities = Identities::none(&nobody);
    identities.add("key", KEY.to_string().expose_secret().as_bytes());

    let opened = SopsFile::open(Input { bytes: &sealed, ..input }, &identities)
        .unwrap_or_else(|error| panic!("{format:?}: {error}\n{shown}"));

    // Comments may move, as they do in sops; values may not.
    let before = stores::load(format, bytes).expect("what was encrypted");
    let (before, after) = (stores::to_json(&before), stores::to_json(opened.documents()));
    assert_eq!(before, after, "{format:?}\n{shown}");
}

/// Returns a rule for the one key, everything encrypted but what sops leaves open by itself.
fn rule() -> CreationRule {
    let group = GroupRule { recipients: vec![KEY.to_public().to_string()], foreign: Vec::new() };
    CreationRule {
        groups: vec![group],
        threshold: 0,
        selection: Selection::from_settings(|_| None).expect("the rule of sops itself"),
        mac_scope: MacScope::All,
    }
}
