//! The folders of a tree, each looked at once: a generated tree has many files in few folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is in the place of a folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FolderKind {
    /// A folder.
    Folder,
    /// A link, wherever it leads.
    Link,
    /// A file, or something that cannot be looked at.
    Other,
    /// Nothing, and therefore nothing below it either.
    Missing,
}

/// The folders below a root that were looked at.
#[derive(Debug)]
pub struct Folders<'a> {
    root: &'a Path,
    known: HashMap<PathBuf, FolderKind>,
}

impl<'a> Folders<'a> {
    /// Knows nothing but the root.
    pub fn new(root: &'a Path) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// Returns what is in the place of a folder, by its path below the root.
    pub fn kind(&mut self, path: &Path) -> FolderKind {
        if path.as_os_str().is_empty() {
            return FolderKind::Folder;
        }
        if let Some(kind) = self.known.get(path) {
            return *kind;
        }
        let kind = match path.parent().map(|parent| self.kind(parent)) {
            Some(FolderKind::Missing) => FolderKind::Missing,
            _ => look(&self.root.join(path)),
        };
        self.known.insert(path.to_owned(), kind);
        kind
    }
}

fn look(path: &Path) -> FolderKind {
    match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => FolderKind::Link,
        Ok(metadata) if metadata.is_dir() => FolderKind::Folder,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FolderKind::Missing,
        Ok(_) | Err(_) => FolderKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_missing_folders_are_told_apart() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(root.path().join("a/b")).expect("folders");
        std::fs::write(root.path().join("a/file"), "").expect("a file");
        std::os::unix::fs::symlink("a", root.path().join("link")).expect("a link");

        let mut folders = Folders::new(root.path());

        let kinds = ["a/b", "a/file", "link", "none/below"].map(|path| folders.kind(Path::new(path)));
        assert_eq!(kinds, [FolderKind::Folder, FolderKind::Other, FolderKind::Link, FolderKind::Missing]);
    }
}
