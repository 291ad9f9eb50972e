//! The stores of SOPS against the real sops: what it decrypts is what we write, and the files
//! it encrypts come back byte for byte.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "sops_stores/corpus.rs"]
mod corpus;
#[path = "sops_stores/generated.rs"]
mod generated;
#[path = "support/tools.rs"]
mod tools;

use std::path::Path;

use corpus::{CASES, Case};
use infra::secrets::sops::Format;
use infra::secrets::sops::creation_rules::CreationRules;
use infra::secrets::sops::stores::{self, Layout};
use infra::secrets::sops::tree::{Comment, Document, Item, ListEntry, Value};
use tools::AgeKey;

/// What the real sops made of a case.
struct Reference {
    case: &'static Case,
    encrypted: Vec<u8>,
    decrypted: Vec<u8>,
}

/// Runs sops over all cases, as many at once as there are processors.
fn references() -> Vec<Reference> {
    let key = AgeKey::new();
    let folder = tempfile::tempdir().unwrap();
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let chunks = CASES.chunks(CASES.len().div_ceil(workers));
        let started: Vec<_> = chunks
            .map(|cases| {
                scope.spawn(|| {
                    cases.iter().map(|case| reference(case, &key, folder.path())).collect::<Vec<_>>()
                })
            })
            .collect();
        started.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn reference(case: &'static Case, key: &AgeKey, folder: &Path) -> Reference {
    let (plain, secret) = (case.file(""), case.file(".enc"));
    std::fs::write(folder.join(&plain), case.text).unwrap();
    let encrypted = sops(case, key, folder, &["-e", "--age", &key.recipient, &plain]);
    std::fs::write(folder.join(&secret), &encrypted).unwrap();
    let decrypted = sops(case, key, folder, &["-d", &secret]);
    Reference { case, encrypted, decrypted }
}

fn sops(case: &Case, key: &AgeKey, folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = key.run_sops(folder, arguments);
    assert!(output.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Moves comments that stand beside a value above it: no sops keeps the place of a comment
/// that it decrypts, even where it kept it in the encrypted file.
fn comments_above(documents: &mut [Document]) {
    documents.iter_mut().for_each(|document| above_in_map(document));
}

/// An empty comment is not encrypted, so newer releases keep its place.
fn move_above(comment: &mut Comment) {
    comment.beside &= comment.text.is_empty() && tools::sops_is_recent();
}

fn above_in_map(items: &mut [Item]) {
    for item in items {
        match item {
            Item::Comment(comment) => move_above(comment),
            Item::Pair(_, value) => above_in_value(value),
        }
    }
}

fn above_in_value(value: &mut Value) {
    match value {
        Value::Map(items) => above_in_map(items),
        Value::List(entries) => {
            for entry in entries {
                match entry {
                    ListEntry::Comment(comment) => move_above(comment),
                    ListEntry::Value(value) => above_in_value(value),
                }
            }
        }
        _ => {}
    }
}

fn assert_same(name: &str, what: &str, ours: &[u8], theirs: &[u8]) {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    assert!(ours == theirs, "{name}: {what}\n--- ours\n{ours}\n--- sops\n{theirs}");
}

/// Writes what was loaded, or says what went wrong with which case.
fn written(case: &Case, documents: &[Document]) -> Vec<u8> {
    stores::write(case.format, documents, Layout::default())
        .unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

fn loaded(case: &Case, bytes: &[u8]) -> Vec<Document> {
    stores::load(case.format, bytes).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

#[test]
fn plaintext_and_encrypted_files_are_those_of_the_real_sops() {
    let references = references();

    assert!(references.len() >= 60);
    for reference in &references {
        the_decrypted_text_comes_back(reference);
        the_original_is_written_as_sops_writes_it(reference);
        the_encrypted_file_comes_back(reference);
    }
}

fn the_decrypted_text_comes_back(Reference { case, decrypted, .. }: &Reference) {
    let documents = loaded(case, decrypted);

    assert_same(case.name, "decrypted text read and written", &written(case, &documents), decrypted);
}

fn the_original_is_written_as_sops_writes_it(Reference { case, decrypted, .. }: &Reference) {
    if case.recent && !tools::sops_is_recent() {
        return;
    }
    let mut documents = loaded(case, case.text);
    comments_above(&mut documents);

    assert_same(case.name, "original read and written", &written(case, &documents), decrypted);
}

fn the_encrypted_file_comes_back(Reference { case, encrypted, .. }: &Reference) {
    let format = case.format;
    let documents = stores::load_encrypted(format, encrypted).unwrap();
    let count = documents.len();

    let (plain, metadata) = stores::split_metadata(format, documents).unwrap();
    let joined = stores::join_metadata(format, plain, metadata.expect("metadata"));

    assert_eq!(joined.len(), count);
    let written = stores::write_encrypted(format, &joined, Layout::default()).unwrap();
    assert_same(case.name, "encrypted file read and written", &written, encrypted);
}

#[test]
fn other_indents_are_those_of_the_real_sops() {
    let (key, folder) = (AgeKey::new(), tempfile::tempdir().unwrap());
    let indents = "stores:\n  yaml:\n    indent: 2\n  json:\n    indent: 3\n";
    let rules = format!("creation_rules:\n  - age: {}\n{indents}", key.recipient);
    std::fs::write(folder.path().join(".sops.yaml"), rules).unwrap();
    let layout = Layout { yaml_indent: 2, json_indent: Some(3) };

    for (name, text) in
        [("a.yaml", "a:\n  - b: |2\n      x\n    c: [d]\n"), ("a.json", "{\"a\":[{\"b\":1}]}")]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
        assert!(key.run_sops(folder.path(), &["-e", "-i", name]).status.success());
        let theirs = key.run_sops(folder.path(), &["-d", name]).stdout;

        let format = Format::of_path(Path::new(name));
        let ours = stores::write(format, &stores::load(format, text.as_bytes()).unwrap(), layout).unwrap();

        assert_same(name, "another indent", &ours, &theirs);
    }
}

#[test]
fn an_indent_is_refused_where_the_real_sops_refuses_it_and_only_there() {
    let (key, folder) = (AgeKey::new(), tempfile::tempdir().unwrap());
    let settings =
        ["yaml: {indent: -1}", "json: {indent: -2}", "json: {indent: -1}", "json_binary: {indent: -3}"];
    let odd = ["yaml: {indent: 0}", "yaml: {indent: two}", "yaml: {indent: 3.7}", "json: {indent: 0}"];
    let files = [("a.yaml", "a:\n  b: 1\n"), ("a.json", "{\"a\":1}"), ("a.env", "A=1\n"), ("a.bin", "x")];

    for setting in settings.iter().chain(&odd) {
        let rules = format!("creation_rules:\n  - age: {}\nstores:\n  {setting}\n", key.recipient);
        let path = folder.path().join(".sops.yaml");
        std::fs::write(&path, &rules).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
            let theirs = key.run_sops(folder.path(), &["-e", name]);
            let format = Format::of_path(Path::new(name));
            let ours = CreationRules::parse(path.clone(), &rules).unwrap().layout(format);

            assert_eq!(theirs.status.success(), ours.is_ok(), "{setting} {name}: {ours:?}");
            if let Err(error) = &ours {
                let said = error.to_string();
                assert!(said.contains(".sops.yaml") && said.contains("indent` must be"), "{said}");
            } else if format == Format::Yaml {
                std::fs::write(folder.path().join("b.yaml"), &theirs.stdout).unwrap();
                let shown = key.run_sops(folder.path(), &["-d", "b.yaml"]).stdout;
                let ours =
                    stores::write(format, &stores::load(format, text.as_bytes()).unwrap(), ours.unwrap());
                assert_same(setting, "indent", &ours.unwrap(), &shown);
            }
        }
    }
}

#[test]
fn what_the_real_sops_refuses_is_refused_here() {
    let (key, folder) = (AgeKey::new(), tempfile::tempdir().unwrap());

    for (name, text) in corpus::REFUSED {
        std::fs::write(folder.path().join(name), text).unwrap();
        let theirs = key.run_sops(folder.path(), &["-e", "--age", &key.recipient, name]);
        let ours = stores::load(Format::of_path(Path::new(name)), text.as_bytes());

        assert!(!theirs.status.success(), "sops takes {text:?}");
        assert!(ours.is_err(), "we take {text:?}");
    }
}
