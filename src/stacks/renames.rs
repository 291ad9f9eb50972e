//! Tells which new stack may be a former one: git calls a file of the old folder renamed into the
//! new one, or the new one declares every resource of the old state. Reads nothing, decides
//! nothing: where a former stack has several candidates all are returned. Begin at
//! [`rename_candidates`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::files::is_among;
use crate::model::{Stack, StackId, is_tofu_file};

/// A stack that has a state and no folder.
#[derive(Clone, Debug)]
pub struct GoneStack {
    /// The id that its state is kept under.
    pub id: StackId,
    /// Where its folder was, below the project's root.
    pub path: Option<PathBuf>,
    /// The resources in its state, see [`addresses_in_state`]; none where it cannot be opened.
    pub addresses: Option<BTreeSet<String>>,
}

/// What speaks for a rename.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Evidence {
    /// Git calls a file renamed.
    Git,
    /// It is the same folder, whose workspaces are others now.
    Folder,
    /// The new stack declares every resource of the old state.
    Addresses,
}

/// A new stack that may be a former one.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RenameCandidate {
    /// The stack that is gone.
    pub old: StackId,
    /// The stack that it may be now.
    pub new: StackId,
    /// What speaks for it; git where both do.
    pub evidence: Evidence,
}

/// Returns which new stacks may be former ones, sorted; `moved` are the files that git calls renamed.
///
/// The better reason wins: git and the addresses together before git alone, and that before the
/// addresses alone, which stacks made from one template share.
pub fn rename_candidates(
    gone: &[GoneStack],
    new: &[&Stack],
    moved: Option<&[(PathBuf, PathBuf)]>,
) -> Vec<RenameCandidate> {
    let moved = folders_of(moved.unwrap_or_default());
    let pairs = gone.iter().flat_map(|gone| new.iter().map(move |new| (gone, *new)));
    let found: Vec<RenamePair<'_>> =
        pairs.filter_map(|(gone, new)| RenamePair::of(gone, new, &moved)).collect();
    let mut candidates: Vec<RenameCandidate> =
        best_of(&found).into_iter().map(RenamePair::candidate).collect();
    candidates.sort();
    candidates
}

/// Leaves out the pairs that have a stack in common with a better one that stays.
fn best_of<'a>(found: &'a [RenamePair<'a>]) -> Vec<&'a RenamePair<'a>> {
    let (mut best, mut old, mut new) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for weight in [RenamePair::BOTH, RenamePair::GIT, RenamePair::ADDRESSES] {
        let equal = found.iter().filter(|pair| pair.weight() == weight);
        let free: Vec<_> = equal.filter(|pair| !old.contains(pair.old) && !new.contains(pair.new)).collect();
        old.extend(free.iter().map(|pair| pair.old));
        new.extend(free.iter().map(|pair| pair.new));
        best.extend(free);
    }
    best
}

/// A former stack and a new one, with what speaks for their being the same.
struct RenamePair<'a> {
    old: &'a StackId,
    new: &'a StackId,
    by_git: bool,
    by_folder: bool,
    by_addresses: bool,
}

impl<'a> RenamePair<'a> {
    const ADDRESSES: u8 = 1;
    const GIT: u8 = 2;
    const BOTH: u8 = Self::GIT + Self::ADDRESSES;

    fn of(gone: &'a GoneStack, new: &'a Stack, moved: &BTreeSet<(&Path, &Path)>) -> Option<Self> {
        // Nothing can be made a second time where the state holds nothing.
        if gone.addresses.as_ref().is_some_and(BTreeSet::is_empty) {
            return None;
        }
        let by_git = gone.path.as_deref().is_some_and(|old| moved.contains(&(plain(old), plain(&new.path))));
        let is_declared = |address: &String| is_among(&new.addresses, address);
        let by_addresses = gone.addresses.as_ref().is_some_and(|known| known.iter().all(is_declared));
        let by_folder = is_of_folder(&gone.id, new);
        let pair = Self { old: &gone.id, new: &new.id, by_git, by_folder, by_addresses };
        (by_git || by_folder || by_addresses).then_some(pair)
    }

    fn weight(&self) -> u8 {
        if self.by_folder {
            return Self::BOTH;
        }
        u8::from(self.by_git) * Self::GIT + u8::from(self.by_addresses) * Self::ADDRESSES
    }

    fn candidate(&self) -> RenameCandidate {
        let evidence = match (self.by_folder, self.by_git) {
            (true, _) => Evidence::Folder,
            (false, true) => Evidence::Git,
            (false, false) => Evidence::Addresses,
        };
        RenameCandidate { old: self.old.clone(), new: self.new.clone(), evidence }
    }
}

/// Returns whether a former stack was run in the folder of a new one, one of them in a workspace.
fn is_of_folder(gone: &StackId, new: &Stack) -> bool {
    let base = new.base_id();
    let workspace = gone.as_str().strip_prefix(base.as_str()).and_then(|rest| rest.strip_prefix('@'));
    workspace.is_some_and(|name| !name.contains('/')) || (new.workspace.is_some() && *gone == base)
}

/// Returns from which folder to which OpenTofu files were renamed.
fn folders_of(moved: &[(PathBuf, PathBuf)]) -> BTreeSet<(&Path, &Path)> {
    let folders = moved.iter().filter_map(|(old, new)| Some((folder_of(old)?, folder_of(new)?)));
    folders.filter(|(old, new)| old != new).collect()
}

fn folder_of(file: &Path) -> Option<&Path> {
    let is_read = file.file_name()?.to_str().is_some_and(is_tofu_file);
    file.parent().map(plain).filter(|_| is_read)
}

/// The project's own folder is `.` as the path of a stack, and nothing before the name of a file.
fn plain(folder: &Path) -> &Path {
    folder.strip_prefix(".").unwrap_or(folder)
}

/// Returns the addresses of the managed resources in a state of format 4, without instance keys.
pub fn addresses_in_state(state: &Value) -> BTreeSet<String> {
    let resources = state["resources"].as_array().into_iter().flatten();
    resources.filter(|resource| resource["mode"] == "managed").filter_map(address_of).collect()
}

fn address_of(resource: &Value) -> Option<String> {
    let (kind, name) = (resource["type"].as_str()?, resource["name"].as_str()?);
    let module = resource["module"].as_str().filter(|module| !module.is_empty());
    let module = module.map(|module| without_keys(module) + ".").unwrap_or_default();
    Some(format!("{module}{kind}.{name}"))
}

/// Takes the instance keys out of an address: `a["x.y"].b[0]` is `a.b`.
fn without_keys(address: &str) -> String {
    let mut plain = String::new();
    let mut letters = address.chars();
    while let Some(letter) = letters.next() {
        if letter == '[' { skip_key(&mut letters) } else { plain.push(letter) }
    }
    plain
}

/// Goes behind the bracket that ends a key; one in quotes belongs to the key.
fn skip_key(letters: &mut impl Iterator<Item = char>) {
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => _ = letters.next(),
            ']' if !is_quoted => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::sample::stack;
    use super::*;

    fn gone(id: &str, addresses: &[&str]) -> GoneStack {
        let path = Some(Path::new("infrastructure").join(id));
        let addresses = Some(addresses.iter().map(|address| (*address).to_owned()).collect());
        GoneStack { id: StackId::new(id), path, addresses }
    }

    fn unopened(id: &str) -> GoneStack {
        GoneStack { addresses: None, ..gone(id, &[]) }
    }

    fn new(id: &str, addresses: &[&str]) -> Stack {
        let addresses = addresses.iter().map(|address| (*address).to_owned()).collect();
        Stack { addresses, ..stack(id, &[]) }
    }

    fn moved(old: &str, new: &str) -> (PathBuf, PathBuf) {
        (Path::new("infrastructure").join(old), Path::new("infrastructure").join(new))
    }

    /// Returns the candidates as `old>new by evidence`.
    fn candidates(gone: &[GoneStack], new: &[Stack], moved: &[(PathBuf, PathBuf)]) -> Vec<String> {
        let new = new.iter().collect::<Vec<_>>();
        let found = rename_candidates(gone, &new, Some(moved));
        let found = found.into_iter().map(|one| format!("{}>{} by {:?}", one.old, one.new, one.evidence));
        found.collect()
    }

    #[test]
    fn a_stack_that_declares_every_resource_of_a_former_one_may_be_it() {
        let gone = [gone("net", &["a.x", "module.m.a.y", "module.eks.a.z"])];
        let all = new("all", &["a.more", "a.x", "module.eks.*", "module.m.a.y"]);
        let some = new("some", &["a.x", "module.m.a.y"]);

        assert_eq!(candidates(&gone, &[some, all], &[]), ["net>all by Addresses"]);
    }

    #[test]
    fn every_candidate_is_returned_in_order() {
        let gone = [gone("old", &["a.x"])];

        let found = candidates(&gone, &[new("two", &["a.x"]), new("one", &["a.x"])], &[]);

        assert_eq!(found, ["old>one by Addresses", "old>two by Addresses"]);
    }

    #[test]
    fn a_renamed_file_is_evidence_and_others_of_the_same_addresses_are_not() {
        let gone = [gone("a", &["t.x"]), gone("b", &["t.x"])];
        let stacks = [new("c", &["t.x"]), new("d", &["t.x"])];

        let found = candidates(&gone, &stacks, &[moved("a/main.tf", "c/main.tf")]);

        assert_eq!(found, ["a>c by Git", "b>d by Addresses"]);
    }

    #[test]
    fn git_and_the_addresses_together_win_over_a_file_that_is_everywhere() {
        let moved = [moved("a/main.tf", "b/main.tf"), moved("a/backend.tf", "c/backend.tf")];
        let stacks = [new("b", &["t.x"]), new("c", &["t.y"])];

        assert_eq!(candidates(&[gone("a", &["t.x"])], &stacks, &moved), ["a>b by Git"]);
        assert_eq!(candidates(&[unopened("a")], &stacks, &moved), ["a>b by Git", "a>c by Git"]);
    }

    #[test]
    fn a_pair_that_gave_way_takes_nothing_from_another() {
        let gone = [gone("a", &["t.x"]), gone("b", &["t.y"])];
        let stacks = [new("c", &["t.x"]), new("d", &["t.y"])];
        let moved = [moved("a/main.tf", "c/main.tf"), moved("a/backend.tf", "d/backend.tf")];

        assert_eq!(candidates(&gone, &stacks, &moved), ["a>c by Git", "b>d by Addresses"]);
    }

    #[test]
    fn git_alone_judges_a_state_that_cannot_be_opened_or_other_addresses() {
        let stacks = [new("b", &["t.x"])];
        let moved = [moved("a/main.tf.json", "b/main.tf.json")];

        assert_eq!(candidates(&[unopened("a")], &stacks, &moved), ["a>b by Git"]);
        assert_eq!(candidates(&[gone("a", &["t.former"])], &stacks, &moved), ["a>b by Git"]);
        assert_eq!(candidates(&[unopened("a")], &stacks, &[]), [""; 0]);
    }

    #[test]
    fn a_state_without_resources_was_not_renamed() {
        let moved = [moved("a/main.tf", "b/main.tf")];

        assert_eq!(candidates(&[gone("a", &[])], &[new("b", &["t.x"])], &moved), [""; 0]);
    }

    #[test]
    fn only_files_that_tofu_reads_and_that_lie_in_the_folder_itself_count() {
        let files = [
            moved("a/notes.md", "b/notes.md"),
            moved("a/files/x.tf", "b/x.tf"),
            moved("a/x.tf", "b/files/x.tf"),
            moved("a/.x.tf", "b/.x.tf"),
        ];

        assert_eq!(candidates(&[unopened("a")], &[new("b", &[])], &files), [""; 0]);
    }

    #[test]
    fn the_project_itself_may_have_been_the_stack() {
        let root = GoneStack { path: Some(PathBuf::from(".")), ..unopened(".") };
        let files = [(PathBuf::from("main.tf"), PathBuf::from("infrastructure/b/main.tf"))];

        assert_eq!(candidates(&[root], &[new("b", &[])], &files), [".>b by Git"]);
        let nowhere = GoneStack { path: None, ..unopened("a") };
        assert_eq!(candidates(&[nowhere], &[new("b", &[])], &files), [""; 0]);
    }

    #[test]
    fn without_git_the_addresses_alone_judge() {
        let stack = new("b", &["t.x"]);

        assert_eq!(rename_candidates(&[gone("a", &["t.x"])], &[&stack], None).len(), 1);
    }

    #[test]
    fn a_state_tells_its_managed_resources_without_instance_keys() {
        let state = json!({"version": 4, "resources": [
            {"mode": "managed", "type": "t", "name": "x", "instances": [{"index_key": 0}, {"index_key": 1}]},
            {"mode": "data", "type": "t", "name": "d"},
            {"mode": "managed", "module": "module.a[\"x.y\"].module.b[0]", "type": "t", "name": "y"},
            {"mode": "managed", "module": r#"module.a["]\"].[\\"].module.c"#, "type": "t", "name": "z"},
            {"mode": "managed", "type": "t"},
            "unexpected",
        ]});

        let found = addresses_in_state(&state).into_iter().collect::<Vec<_>>();

        assert_eq!(found, ["module.a.module.b.t.y", "module.a.module.c.t.z", "t.x"]);
    }

    #[test]
    fn what_is_no_state_has_no_resources() {
        for state in [json!(null), json!([1]), json!({"resources": {}}), json!({"encrypted_data": "x"})] {
            assert!(addresses_in_state(&state).is_empty(), "{state}");
        }
    }

    proptest! {
        #[test]
        fn keys_vanish_whatever_they_contain(keys in prop::collection::vec(".*", 0..4)) {
            let quoted = |key: &String| format!("[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""));
            let address = keys.iter().map(|key| format!("module.m{}.", quoted(key))).collect::<String>();

            prop_assert_eq!(without_keys(&address), "module.m.".repeat(keys.len()));
        }

        #[test]
        fn any_text_is_survived(text in ".*") {
            let plain = without_keys(&text);

            prop_assert!(!plain.contains('['));
        }
    }
}
