//! Any bytes as an Ansible Vault: parsed without a password, and opened with one.
//!
//! A password costs ten thousand rounds, so only lengths that sixteen divides pay for it;
//! the parser sees every input.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use infra::model::Environment;
use infra::process::Interrupts;
use infra::secrets::vault::{PasswordSource, Passwords, VaultId};
use libfuzzer_sys::fuzz_target;
use zeroize::Zeroizing;

static NONE: LazyLock<Passwords> = LazyLock::new(|| passwords(Vec::new()));
static ONE: LazyLock<Passwords> = LazyLock::new(|| {
    let password = Zeroizing::new("password".to_owned());
    passwords(vec![VaultId { label: None, source: PasswordSource::Variable { name: "PASSWORD", password } }])
});

fn passwords(ids: Vec<VaultId>) -> Passwords {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let interrupts = Interrupts::listen().expect("signals");
        let loaded = Passwords::load(ids, &Environment::default(), Path::new("."), &interrupts).await;
        loaded.expect("passwords")
    })
}

fn nobody(_: &str) -> Option<Zeroizing<String>> {
    None
}

fuzz_target!(|bytes: &[u8]| {
    let file = Path::new("any");
    let error = NONE.open(file, bytes, &nobody).expect_err("there is no password");
    let _ = error.to_string();
    if bytes.len().is_multiple_of(16)
        && let Ok(opened) = ONE.open(file, bytes, &nobody)
    {
        let again = opened.seal(opened.plaintext()).expect("sealed");
        let reopened = ONE.open(file, &again, &nobody).expect("what was sealed opens");
        assert_eq!(opened.plaintext(), reopened.plaintext());
    }
});
