//! `infra.lock` as a file: its form, what is refused, and many that change it at once.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::error::Kind;

fn known(lineage: &str, kept: &str) -> KnownState {
    KnownState { lineage: lineage.to_owned(), kept: kept.to_owned() }
}

fn folder_with(text: impl AsRef<[u8]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(FILE), text).expect("a file");
    folder
}

fn refusal_of(text: impl AsRef<[u8]>) -> Error {
    let folder = folder_with(text);
    let error = InfraLock::read(folder.path()).expect_err("a broken file");
    assert_eq!(error.kind(), Kind::Invalid, "{error}");
    assert!(!error.hints().is_empty() && error.to_string().contains(FILE), "{error}");
    error
}

fn add(root: &Path, id: &str) -> Result<bool> {
    InfraLock::update(root, &root.join(".infra"), |lock| {
        lock.states.insert(StackId::new(id), known("l", "embedded"));
    })
}

#[test]
fn the_file_is_sorted_and_has_one_line_a_stack() {
    let mut lock = InfraLock::default();
    assert!(lock.to_text().ends_with("format: 1\nstates: {}\n"), "{}", lock.to_text());
    lock.states.insert(StackId::new("02-b/y"), known("3f", "s3://bucket/prefix"));
    lock.states.insert(StackId::new("01-a/x"), known("9c\"1\\", "embedded"));

    let text = lock.to_text();

    let (heading, lines) = text.split_once("format: 1\n").expect("a format");
    assert!(heading.lines().all(|line| line.starts_with("# ")) && heading.contains("Commit this file"));
    assert_eq!(
        lines,
        "states:\n  \"01-a/x\": { lineage: \"9c\\\"1\\\\\", kept: \"embedded\" }\n  \"02-b/y\": \
         { lineage: \"3f\", kept: \"s3://bucket/prefix\" }\n"
    );
}

#[test]
fn what_a_person_wrote_by_hand_reads_as_well() {
    let folder = folder_with("states:\n  01-a/x:\n    kept: embedded\n    lineage: abc\nformat: 1 # ours\n");

    let lock = InfraLock::read(folder.path()).expect("a file").expect("a lock");

    assert_eq!(lock.states[&StackId::new("01-a/x")], known("abc", "embedded"));
    assert_eq!(InfraLock::read(Path::new("/nowhere/at/all")).expect("no file"), None);
}

#[test]
fn what_is_broken_is_told_with_its_line_and_what_was_expected() {
    let mut wrong = Vec::new();
    for (text, words) in [
        ("", "unexpected end of input"),
        ("[]", "must be"),
        ("format: 1\n", "states"),
        ("states: {}\n", "format"),
        ("format: one\nstates: {}\n", "`format` must be a whole number"),
        ("format: 1\nstates: []\n", "`states` must be a map"),
        ("format: 1\nstates: {}\nmore: 1\n", "infra.lock:3:1"),
        ("format: 1\nstates:\n  a: { lineage: x }\n", "kept"),
        ("format: 1\nstates:\n  a: { lineage: x, kept: e, z: 1 }\n", "unknown key `z`"),
        ("format: 1\nstates:\n  a: { lineage: 12, kept: e }\n", "infra.lock:3"),
        ("format: 1\nstates:\n  a: { lineage: [x], kept: e }\n", "infra.lock:3"),
        ("format: 1\nstates:\n  a: { lineage: \"\", kept: e }\n", "`lineage` must be a text, not empty"),
        ("format: 1\nstates:\n  a: { lineage: \"a\\u001bb\", kept: e }\n", "control character"),
        ("format: 1\nstates:\n  a: { lineage: x, kept: \"\\u202e\" }\n", "control character"),
        ("format: 1\nstates:\n  ../a: { lineage: x, kept: e }\n", "infra.lock:3:3"),
        ("format: 1\nstates:\n  a//b: { lineage: x, kept: e }\n", "a segment is empty"),
        ("format: 1\nstates:\n  a: { lineage: x, kept: e }\n  a: { lineage: y, kept: e }\n", "twice"),
        ("format: 1\nstates: {}\n---\nformat: 1\nstates: {}\n", "infra.lock"),
        ("format: 2\nother: things\n", "a newer infra wrote it"),
        ("format: 1\nstates: {", "infra.lock"),
        ("\u{0}", "infra.lock"),
    ] {
        let error = refusal_of(text).to_string();
        if !error.contains(words) {
            wrong.push(format!("{text:?} ({words}) was told as:\n{error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_merge_conflict_has_words_of_its_own() {
    let text = "format: 1\nstates:\n<<<<<<< HEAD\n  \"a\": { lineage: \"1\", kept: \"embedded\" }\n=======\n  \
                \"b\": { lineage: \"2\", kept: \"embedded\" }\n>>>>>>> other\n";

    let error = refusal_of(text).to_string();

    assert!(error.contains("merge conflict") && error.contains("infra.lock:3"), "{error}");
    assert!(error.contains("keep the lines of both sides"), "{error}");
}

#[test]
fn what_refers_to_something_else_or_never_ends_is_refused_at_once() {
    let bomb: String = (1..40).map(|n| format!("  a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1)).collect();
    refusal_of(format!("format: 1\nstates:\n  a0: &a0 x\n{bomb}"));
    refusal_of("format: 1\nstates:\n  a: &x { lineage: l, kept: e }\n  b: *x\n");
    refusal_of("format: 1\nstates:\n  a: { <<: { lineage: l }, kept: e }\n");
    refusal_of(format!("format: 1\nstates: {}\n", "[".repeat(1 << 20)));
    refusal_of(format!("format: 1\nstates:\n{}", "? ".repeat(1 << 20)));
    assert!(refusal_of(b"format: 1\n\xff").to_string().contains("infra.lock:2"));
    let huge = tempfile::tempdir().expect("a folder");
    std::fs::File::create(huge.path().join(FILE))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a sparse file");
    let error = InfraLock::read(huge.path()).expect_err("a huge file");
    assert!(error.message().contains("larger than 16 MiB"), "{error}");
}

#[test]
fn what_is_no_file_is_refused_and_stays() {
    type Make = (&'static str, fn(PathBuf));
    let make: [Make; 3] = [
        ("is a link", |path| symlink("/etc/passwd", path).expect("a link")),
        ("is not a file", |path| std::fs::create_dir(path).expect("a folder")),
        ("is not a file", |path| nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe")),
    ];
    for (words, make) in make {
        let folder = tempfile::tempdir().expect("a folder");
        make(folder.path().join(FILE));

        let error = add(folder.path(), "a").expect_err(words);

        assert!(error.message().contains(words) && error.kind() == Kind::Invalid, "{error}");
        assert!(std::fs::symlink_metadata(folder.path().join(FILE)).is_ok_and(|found| !found.is_file()));
    }
}

#[test]
fn a_file_is_written_only_where_something_changed_and_keeps_its_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let (root, path) = (folder.path(), folder.path().join(FILE));
    let nothing = InfraLock::update(root, &root.join(".infra"), |_| ()).expect("no change");
    assert!(!nothing && !path.exists());

    assert!(add(root, "a").expect("a change"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let by_hand = std::fs::read_to_string(&path).expect("the file") + "# a remark\n";
    std::fs::write(&path, &by_hand).expect("a file");

    assert!(!add(root, "a").expect("no change"));
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), by_hand);
    assert!(add(root, "b").expect("a change"));
    assert_eq!(std::fs::metadata(&path).expect("the file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_broken_file_and_what_could_not_be_read_again_change_nothing() {
    let folder = folder_with("format: 1\nstates: broken\n");
    assert!(add(folder.path(), "a").is_err());
    assert_eq!(std::fs::read(folder.path().join(FILE)).expect("the file"), b"format: 1\nstates: broken\n");

    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    for (id, entry) in [("a\nb", known("x", "e")), ("a", known("", "e")), ("a", known("x\n", "e"))] {
        let change = |lock: &mut InfraLock| drop(lock.states.insert(StackId::new(id), entry.clone()));
        assert!(InfraLock::update(root, &root.join(".infra"), change).is_err(), "{id:?} {entry:?}");
    }
    assert!(!root.join(FILE).exists());
}

#[test]
fn many_that_change_it_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();

    // A lock of its own is held by each open file, so threads exclude each other as processes do.
    std::thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                (0..20).for_each(|n| assert!(add(root, &format!("{writer}/{n}")).expect("a change")));
            });
        }
    });

    assert_eq!(InfraLock::read(root).expect("a file").expect("a lock").states.len(), 160);
}

/// A text that may stand in an entry.
fn text() -> impl Strategy<Value = String> {
    let plain = "[a-z0-9\"'\\\\ :#{},&*!|>%@`-]{1,20}";
    prop_oneof![any::<String>(), plain.prop_map(|text| text)]
        .prop_filter("usable", |text| flaw_of("a", &known(text, "e")).is_none())
}

fn id() -> impl Strategy<Value = StackId> {
    prop_oneof![any::<String>(), "[a-z0-9\"' :#{},&*!|>%@`./-]{1,30}", Just(".".to_owned())]
        .prop_filter("usable", |id| !id.is_empty() && flaw_of(id, &known("l", "e")).is_none())
        .prop_map(StackId::new)
}

proptest! {
    #[test]
    fn whatever_is_written_reads_back(
        states in proptest::collection::btree_map(
            id(),
            (text(), text()).prop_map(|(lineage, kept)| KnownState { lineage, kept }),
            0..12,
        )
    ) {
        let lock = InfraLock { states };

        let text = lock.to_text();
        let read = InfraLock::parse(&text);

        prop_assert_eq!(read.map_err(|error| error.to_string()), Ok(lock), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = InfraLock::parse(&text);
        let _ = InfraLock::parse(&format!("format: 1\nstates:\n  {text}"));
    }
}
