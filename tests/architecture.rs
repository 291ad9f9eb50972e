//! The rules of the house, checked: who may import whom, every module introduces itself.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "architecture/imports.rs"]
mod imports;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use imports::{Imports, Module};

/// What each module may use of this crate, beside itself; `error` and `model` are free for all.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("atomic_file", &[]),
    ("aws", &["process"]),
    ("bug", &[]),
    ("error", &[]),
    ("events", &[]),
    ("forge", &["process", "proxies"]),
    ("inventory", &[]),
    ("lint", &["stacks", "syntax"]),
    ("log", &[]),
    ("model", &[]),
    ("process", &[]),
    ("proxies", &[]),
    ("project", &["process"]),
    ("render", &["atomic_file", "process"]),
    ("secrets", &["process"]),
    ("stacks", &["process", "syntax"]),
    ("state", &["atomic_file", "aws", "process"]),
    ("syntax", &[]),
    ("trust", &["atomic_file", "process"]),
    ("tofu", &["process", "proxies", "atomic_file", "syntax"]),
    ("upgrades", &["atomic_file", "stacks", "syntax", "tofu"]),
    ("backends", &["atomic_file", "aws", "process", "project", "stacks", "state", "tofu", "trust"]),
    (
        "engine",
        &[
            "atomic_file",
            "backends",
            "events",
            "process",
            "project",
            "secrets",
            "stacks",
            "state",
            "syntax",
            "tofu",
            "trust",
        ],
    ),
    ("report", &["atomic_file", "events"]),
    (
        "commands",
        &[
            "atomic_file",
            "backends",
            "engine",
            "events",
            "forge",
            "inventory",
            "lint",
            "process",
            "project",
            "render",
            "report",
            "secrets",
            "stacks",
            "state",
            "tofu",
            "trust",
            "upgrades",
        ],
    ),
    ("cli", &["commands", "log", "process", "report", "secrets", "trust"]),
];

#[test]
fn modules_import_only_what_the_house_allows() {
    let mut offences = Vec::new();
    for (file, text) in sources() {
        let module = module_of(&file);
        let allowed = allowed_for(&module);
        for used in crate_imports(&text) {
            let free = used == module || used == "error" || used == "model";
            if !free && !allowed.contains(&used.as_str()) {
                offences.push(format!("{} imports crate::{used}", file.display()));
            }
        }
    }

    assert!(offences.is_empty(), "{}", offences.join("\n"));
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<PathBuf> =
        sources().into_iter().filter(|(_, text)| !text.starts_with("//!")).map(|(file, _)| file).collect();

    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn the_map_names_every_module() {
    let map = std::fs::read_to_string(source_dir().join("lib.rs")).expect("lib.rs");
    let modules: Vec<&str> =
        map.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();

    assert!(modules.len() >= 15, "{modules:?}");
    for module in modules {
        assert!(map.contains(&format!("//! | [`{module}`] |")), "`{module}` is not on the map");
        allowed_for(module);
    }
}

#[test]
fn processes_start_in_one_place() {
    let starting: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(_, text)| text.contains("Command::new("))
        .map(|(file, _)| file)
        .collect();

    assert!(!starting.is_empty() && starting.iter().all(|file| module_of(file) == "process"), "{starting:?}");
}

/// Who makes folders in a way of its own; none of them is in `.infra`, whose folders are made by
/// `atomic_file`, which hides them from git.
const MAKES_FOLDERS: &[&str] = &[
    // The one door.
    "atomic_file.rs",
    // Where a person keeps a project, its stacks, its states and its generated files.
    "commands/gitops/ci.rs",
    "commands/gitops/comment/whole_plans.rs",
    "commands/tools/man.rs",
    "commands/setup/new/folder.rs",
    "commands/setup/new_stack.rs",
    "commands/setup/new_stack/copy.rs",
    "backends/tofu_backends/local_file.rs",
    "render/output/write.rs",
    // Below a folder that the one door made.
    "state/store/places/private_folder.rs",
    // In memory, and in the user's cache.
    "secrets/editing.rs",
    "tofu/install/lock.rs",
    "tofu/install/place.rs",
    "tofu/providers/plugin_cache.rs",
];

#[test]
fn folders_for_what_is_kept_are_made_in_one_place() {
    let makes = |text: &str| {
        let code = outside_of_tests(text);
        ["create_dir(", "create_dir_all(", "DirBuilder::new"].iter().any(|way| code.contains(way))
    };
    let makers: Vec<String> = sources()
        .into_iter()
        .filter(|(file, text)| !file.ends_with("tests.rs") && makes(text))
        .map(|(file, _)| file.strip_prefix(source_dir()).expect("a source file").display().to_string())
        .collect();

    let strangers: Vec<_> = makers.iter().filter(|file| !MAKES_FOLDERS.contains(&file.as_str())).collect();
    assert!(strangers.is_empty(), "not on the list of those who make folders: {strangers:?}");
}

/// Who reads what a child wrote as it is, and why no secret becomes visible by it.
const READS_RAW: &[&str] = &[
    // Go, git and Python are given no secrets; of a plugin only the kind of an error is told.
    "process/git.rs",
    "render/plugin.rs",
    "tofu/install/go_build.rs",
    "tofu/binary/probe.rs",
    // What it prints is the secret itself, and is never told.
    "aws/credential_process.rs",
    "secrets/identities/sources.rs",
    "secrets/vault/passwords.rs",
    // Parsed here, then masked.
    "tofu/messages.rs",
    // Names of workspaces are compared with the one that is asked for, and told through the mask.
    "engine/stack/tofu_workspaces.rs",
    // Values that go to tofu again, or to a person who asks for them by name.
    "engine/variables/outputs.rs",
    "engine/state_work/trial_folder.rs",
    "engine/plan/plan_json.rs",
    "engine/single_calls/showing.rs",
    "engine/state_content/pulled_state.rs",
    "engine/state_work/state_encryption.rs",
];

#[test]
fn what_a_child_wrote_is_read_as_it_is_only_where_that_is_meant() {
    let readers: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| outside_of_tests(text).contains("unmasked()"))
        .map(|(file, _)| file.strip_prefix(source_dir()).expect("a source file").display().to_string())
        .collect();

    let strangers: Vec<_> = readers.iter().filter(|file| !READS_RAW.contains(&file.as_str())).collect();
    assert!(strangers.is_empty(), "not on the list of those who may read it: {strangers:?}");
    let gone: Vec<_> =
        READS_RAW.iter().filter(|file| !readers.iter().any(|reader| reader == *file)).collect();
    assert!(gone.is_empty(), "on the list for nothing: {gone:?}");
}

#[test]
fn what_a_child_wrote_becomes_an_event_only_through_the_mask() {
    let read = |path: &str| std::fs::read_to_string(source_dir().join(path)).expect("a source file");
    let raw = read("process/raw.rs");
    let raw = outside_of_tests(&raw);
    for way in ["Display", "Serialize", "Deref", "AsRef", "for String", "pub struct Raw(pub"] {
        assert!(!raw.contains(way), "`Raw` has a way around the mask: {way}");
    }
    let events = read("events.rs");
    assert!(!events.contains("Raw") && events.contains("text: Safe,") && events.contains("text: Vec<Safe>,"));
    let safe = read("model/safe.rs");
    assert_eq!(outside_of_tests(&safe).matches("Self(").count(), 2, "one more way to make `Safe`");
    let masks: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(_, text)| outside_of_tests(text).contains("impl Mask for"))
        .map(|(file, _)| file)
        .collect();
    assert_eq!(masks, [source_dir().join("secrets/redactor.rs")]);
}

/// A room above it is split into rooms.
const MOST_FILES: usize = 15;

#[test]
fn a_file_is_private_to_its_room() {
    // What is private is visible in its own room alone, so that others name what the door offers. A room
    // inside a room may be open: it has a door of its own.
    let opened = |file: &Path, text: &str| -> Vec<String> {
        let lines = outside_of_tests(text).lines().map(str::trim_start);
        let names = lines.filter(|line| line.starts_with("pub")).filter_map(|line| {
            let (_, module) = line.split_once(" mod ")?;
            Some(module.trim_end_matches([';', '{', ' ']).to_owned())
        });
        let is_file = |name: &String| !file.with_extension("").join(name).is_dir();
        names.filter(is_file).map(|name| format!("{}: {name}", file.display())).collect()
    };
    let offences: Vec<String> = sources().iter().flat_map(|(file, text)| opened(file, text)).collect();

    assert!(offences.is_empty(), "opens a file to everybody:\n{}", offences.join("\n"));
}

#[test]
fn no_two_files_import_each_other() {
    let pairs = Imports::of(sources().into_iter().map(|(file, text)| (module_path(&file), text))).mutual();

    let told: Vec<String> =
        pairs.iter().map(|(one, other)| format!("{} and {}", one.join("::"), other.join("::"))).collect();
    assert!(told.is_empty(), "import each other:\n{}", told.join("\n"));
}

#[test]
fn a_room_has_no_more_files_than_can_be_overlooked() {
    let mut rooms: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (file, _) in sources().iter().filter(|(file, _)| file.parent() != Some(&source_dir())) {
        *rooms.entry(file.parent().expect("a folder").to_owned()).or_default() += 1;
    }

    let crowded = rooms.into_iter().filter(|(_, files)| *files > MOST_FILES);
    let told: Vec<String> = crowded.map(|(room, files)| format!("{}: {files}", room.display())).collect();
    assert!(told.is_empty(), "more than fifteen files:\n{}", told.join("\n"));
}

#[test]
fn the_store_does_not_speak_http() {
    let speaking: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with(source_dir().join("state/store")))
        .filter(|(_, text)| {
            ["axum::", "hyper::", "http::", "reqwest::Response"].iter().any(|word| text.contains(word))
        })
        .map(|(file, _)| file)
        .collect();

    assert!(speaking.is_empty(), "{speaking:?}");
}

/// Returns the path of the module that a file holds.
fn module_path(file: &Path) -> Module {
    let below = file.strip_prefix(source_dir()).expect("a source file").with_extension("");
    below.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

fn outside_of_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn allowed_for(module: &str) -> &'static [&'static str] {
    let rule = MAY_IMPORT.iter().find(|(name, _)| *name == module);
    rule.unwrap_or_else(|| panic!("no rule for `{module}`")).1
}

/// Returns the modules that a file names as `crate::module`, outside of its tests.
fn crate_imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let names = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1));
    names.flat_map(leading_words).collect()
}

/// Returns the module after `crate::`, or all of them in `crate::{a, b::c}`.
fn leading_words(rest: &str) -> Vec<String> {
    let word = |text: &str| {
        text.trim().chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect::<String>()
    };
    let words = match rest.strip_prefix('{') {
        Some(list) => list.split(',').map(word).collect(),
        None => vec![word(rest)],
    };
    words.into_iter().filter(|name: &String| !name.is_empty()).collect()
}

/// Returns the top-level module a file belongs to.
fn module_of(file: &Path) -> String {
    let below = file.strip_prefix(source_dir()).expect("a source file");
    let first = below.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(&source_dir(), &mut found);
    found.retain(|(file, _)| !file.ends_with("src/main.rs") && !file.ends_with("src/lib.rs"));
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn collect(dir: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(dir).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            found.push((path, text));
        }
    }
}

fn source_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
