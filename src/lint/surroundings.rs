//! What the files themselves do not tell: what git leaves out, and which states have no entry.

use std::path::{Path, PathBuf};

use crate::model::StackId;

/// What is known beside the files.
#[derive(Debug, Default)]
pub struct Surroundings {
    /// What git leaves out; nothing where there is no repository.
    pub ignored: IgnoredPaths,
    /// Stacks with a state of which `infra.lock` does not know.
    pub unlocked: Vec<StackId>,
    /// Why `infra.lock` cannot be read: the line, and what is wrong.
    pub lock_fault: Option<(usize, String)>,
}

/// The files and folders that git leaves out, as seen from the project's root.
#[derive(Debug, Default)]
pub struct IgnoredPaths {
    /// Sorted, so that what lies below a folder is found.
    paths: Vec<PathBuf>,
}

impl IgnoredPaths {
    /// Takes what git names; a path that holds the project itself says nothing about its files.
    pub fn new(mut paths: Vec<PathBuf>) -> Self {
        if paths.iter().any(|path| path.as_os_str().is_empty()) {
            paths.clear();
        }
        paths.sort();
        Self { paths }
    }

    /// Returns whether git leaves out a file or folder, or something that holds it.
    pub fn holds(&self, path: &Path) -> bool {
        !self.paths.is_empty()
            && path
                .ancestors()
                .any(|part| self.paths.binary_search_by(|known| known.as_path().cmp(part)).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_an_ignored_folder_is_ignored() {
        let ignored = IgnoredPaths::new(vec!["a/b".into(), "a-b".into(), "c.tf".into()]);

        assert!(ignored.holds(Path::new("a/b")) && ignored.holds(Path::new("a/b/c/d.tf")));
        assert!(!ignored.holds(Path::new("a")) && !ignored.holds(Path::new("a/bc")));
    }

    #[test]
    fn a_project_in_an_ignored_folder_has_a_life_of_its_own() {
        assert!(!IgnoredPaths::new(vec![PathBuf::new(), "a".into()]).holds(Path::new("a")));
    }
}
