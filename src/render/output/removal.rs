//! Whether what a `configure` takes away is so much that a person has to confirm it first.
//!
//! It is where an encrypted file goes, or more than half of the generated files do. A single file that
//! is not encrypted never is, however small the tree; and a file whose content comes back elsewhere
//! has only moved. Begin at [`Removal::of`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::changes::{FileChange, TreeChanges};

/// The fewest files that can be more than half of a tree.
const FEWEST: usize = 2;

/// What goes, where it is much.
#[derive(Debug, Eq, PartialEq)]
pub struct Removal {
    /// The files, encrypted ones first, each by path.
    pub files: Vec<RemovedFile>,
    /// How many generated files there are before.
    pub total: usize,
}

/// A file that goes.
#[derive(Debug, Eq, PartialEq)]
pub struct RemovedFile {
    /// Where it is, relative to the root.
    pub path: PathBuf,
    /// Whether it is encrypted.
    pub encrypted: bool,
}

impl Removal {
    /// Returns what is removed; `None` if that is little. `is_encrypted` knows a file by name and content.
    pub fn of(changes: &TreeChanges, is_encrypted: &dyn Fn(&Path, &[u8]) -> bool) -> Option<Self> {
        let mut moved = new_contents(changes);
        let going = |change: &FileChange| {
            let before = change.before.as_deref().filter(|_| change.after.is_none())?;
            let elsewhere = moved.get_mut(before).filter(|count| **count > 0);
            if elsewhere.map(|count| *count -= 1).is_some() {
                return None;
            }
            let encrypted = is_encrypted(&change.path, before);
            Some(RemovedFile { path: change.path.clone(), encrypted })
        };
        let mut files: Vec<RemovedFile> = changes.files.iter().filter_map(going).collect();
        files.sort_by_key(|file| !file.encrypted);
        let had = |change: &&FileChange| change.before.is_some();
        let total = changes.unchanged
            + changes.files.iter().filter(had).count()
            + changes.conflicts.iter().map(|conflict| &conflict.change).filter(had).count();
        let most = files.len() >= FEWEST && files.len() * 2 > total;
        (most || files.iter().any(|file| file.encrypted)).then_some(Self { files, total })
    }

    /// Returns how many of the files are encrypted.
    pub fn encrypted(&self) -> usize {
        self.files.iter().filter(|file| file.encrypted).count()
    }
}

/// Returns the contents of files that are new, and how many have each.
fn new_contents(changes: &TreeChanges) -> HashMap<&[u8], usize> {
    let mut contents = HashMap::new();
    for change in changes.files.iter().filter(|change| change.before.is_none()) {
        if let Some(after) = &change.after {
            *contents.entry(after.as_slice()).or_default() += 1;
        }
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
        FileChange { path: path.into(), before: bytes(before), after: bytes(after), mode: 0o644 }
    }

    fn removal(files: Vec<FileChange>, unchanged: usize) -> Option<Removal> {
        let changes = TreeChanges { files, unchanged, ..TreeChanges::default() };
        Removal::of(&changes, &|path, bytes| path.ends_with("s.sops.yaml") || bytes == b"sealed")
    }

    #[test]
    fn more_than_half_is_much_and_one_file_alone_is_not() {
        let gone = |count: usize| (0..count).map(|at| change(&format!("{at}"), Some("x"), None)).collect();

        assert_eq!(removal(gone(1), 0), None);
        assert_eq!(removal(gone(2), 2), None);
        assert_eq!(removal(gone(0), 0), None);
        assert_eq!(removal(gone(2), 1).map(|removal| (removal.files.len(), removal.total)), Some((2, 3)));
        assert_eq!(removal(gone(2), 0).map(|removal| removal.total), Some(2));
    }

    #[test]
    fn an_encrypted_file_is_much_by_name_or_content_and_stands_first() {
        let files = vec![change("a", Some("sealed"), None), change("z/s.sops.yaml", Some("x"), None)];
        let plain = change("0", Some("x"), None);

        let found = removal([vec![plain], files].concat(), 100).unwrap();

        let paths: Vec<&Path> = found.files.iter().map(|file| file.path.as_path()).collect();
        assert_eq!(paths, [Path::new("a"), Path::new("z/s.sops.yaml"), Path::new("0")]);
        assert_eq!(found.encrypted(), 2);
        assert_eq!(removal(vec![change("s.sops.yaml", Some("x"), Some("y"))], 0), None);
    }

    #[test]
    fn what_comes_back_elsewhere_has_only_moved() {
        let moved = vec![
            change("a/1", Some("one"), None),
            change("a/2", Some("two"), None),
            change("b/1", None, Some("one")),
            change("b/2", None, Some("two")),
        ];
        let halved =
            vec![change("1", Some("x"), None), change("2", Some("x"), None), change("3", None, Some("x"))];

        assert_eq!(removal(moved, 0), None);
        assert_eq!(removal(halved, 0), None);
    }
}
