//! Any bytes as a SOPS file of every format: read, split, written again, opened without a key.
//!
//! Nothing may panic, and what was read can be written and read again.

#![no_main]

use infra::secrets::identities::Identities;
use infra::secrets::sops::Format;
use infra::secrets::sops::stores::{self, Layout};
use infra::secrets::sops::{Input, SopsFile, is_encrypted};
use libfuzzer_sys::fuzz_target;
use zeroize::Zeroizing;

fn nobody(_: &str) -> Option<Zeroizing<String>> {
    None
}

fuzz_target!(|bytes: &[u8]| {
    for format in Format::ALL {
        plain(format, bytes);
        encrypted(format, bytes);
    }
});

fn plain(format: Format, bytes: &[u8]) {
    let Ok(documents) = stores::load(format, bytes) else { return };
    let _ = stores::to_json(&documents);
    let _ = stores::write(format, &documents, Layout::default());
}

fn encrypted(format: Format, bytes: &[u8]) {
    let layout = Layout::default();
    if let Ok(documents) = stores::load_encrypted(format, bytes)
        && let Ok((plain, Some(metadata))) = stores::split_metadata(format, documents)
    {
        let joined = stores::join_metadata(format, plain, metadata);
        let _ = stores::write_encrypted(format, &joined, layout);
    }
    let input = Input { name: "any", format, bytes, layout };
    let _ = is_encrypted(input);
    let error = SopsFile::open(input, &Identities::none(&nobody)).expect_err("there is no key");
    let _ = error.to_string();
}
