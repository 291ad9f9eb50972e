//! Finds the root of the project that a folder belongs to. Looks upwards only, reads
//! no file. Begin at [`find_root`].
//!
//! Folders with OpenTofu files of their own are the weakest sign: inside a stack the
//! nearest such folder is the stack, not the project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::model::{CONVENTIONAL_ROOTS, is_module_folder, is_tofu_file};

/// Files that mark a root where there is no `infra.yaml`.
const MARKERS: [&str; 2] = ["cluster.yaml", "makejinja.toml"];

/// Returns the absolute root of the project around a folder.
pub fn find_root(start: &Path) -> Result<PathBuf> {
    let start = fs::canonicalize(start).map_err(io("open the folder", start))?;
    nearest_with(&start, |folder| has(folder, "infra.yaml"))
        .or_else(|| nearest_with(&start, is_marked))
        .or_else(|| nearest_with(outside_modules(&start), holds_tofu_files))
        .or_else(|| nearest_with(&start, holds_tofu_files))
        .map(Path::to_path_buf)
        .ok_or_else(|| no_root(&start))
}

fn nearest_with(start: &Path, is_root: impl Fn(&Path) -> bool) -> Option<&Path> {
    start.ancestors().find(|folder| is_root(folder))
}

/// Returns whether there is a file of the name, and no folder; a dangling link counts, so that
/// reading it says what is wrong.
fn has(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    path.symlink_metadata().is_ok() && !path.is_dir()
}

fn is_marked(folder: &Path) -> bool {
    MARKERS.iter().any(|marker| has(folder, marker))
        || folder.join(".git").symlink_metadata().is_ok()
        || conventional_roots(folder).any(|root| contains_tofu_files(&root))
}

/// Returns the folders that make `folder` a project root if they hold stacks.
fn conventional_roots(folder: &Path) -> impl Iterator<Item = PathBuf> {
    // From inside `tofu/`, its `stacks/` is the root `tofu/stacks` of the folder above:
    // the project must be the same from wherever it is looked for.
    let is_inner = folder.ends_with("tofu");
    CONVENTIONAL_ROOTS
        .iter()
        .filter(move |root| !(is_inner && **root == "stacks"))
        .map(|root| folder.join(root))
}

/// Returns whether a folder, or one below it, holds OpenTofu files.
fn contains_tofu_files(folder: &Path) -> bool {
    if holds_tofu_files(folder) {
        return true;
    }
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        is_folder && !is_hidden && contains_tofu_files(&entry.path())
    })
}

fn holds_tofu_files(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        !is_folder && is_tofu_file(&entry.file_name().to_string_lossy())
    })
}

/// Returns the folder above the outermost module folder on the path, or the path itself.
fn outside_modules(start: &Path) -> &Path {
    let is_modules =
        |folder: &&Path| folder.file_name().is_some_and(|name| is_module_folder(&name.to_string_lossy()));
    start.ancestors().filter(is_modules).last().and_then(Path::parent).unwrap_or(start)
}

fn no_root(start: &Path) -> Error {
    Error::invalid(format!("`{}` is in no project", start.display()))
        .detail(
            "expected `infra.yaml`, `cluster.yaml`, `makejinja.toml`, `.git` or OpenTofu files here or above",
        )
        .hint("put an `infra.yaml` into the project's root folder; it may be empty, or name that folder with `-C DIR`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    /// Makes the files in a fresh folder and returns what is found from `start`, relative to it.
    fn root_from(start: &str, files: &[&str]) -> Result<PathBuf> {
        let temp = tempfile::tempdir().expect("a temp folder");
        let base = fs::canonicalize(temp.path()).expect("a real path");
        for file in files {
            let path = base.join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, "").expect("a file");
        }
        fs::create_dir_all(base.join(start)).expect("a start folder");
        let root = find_root(&base.join(start))?;
        Ok(root.strip_prefix(&base).expect("a root below the temp folder").to_path_buf())
    }

    #[test]
    fn infra_yaml_wins_over_nearer_signs() {
        let root = root_from("p/sub/infrastructure", &["p/infra.yaml", "p/sub/.git", "p/sub/main.tf"]);

        assert_eq!(root.expect("a root"), Path::new("p"));
    }

    #[test]
    fn a_folder_that_is_called_like_a_project_file_is_none() {
        let files = ["p/.git", "p/a/infra.yaml/x", "p/a/cluster.yaml/x", "p/a/makejinja.toml/x"];

        assert_eq!(root_from("p/a/b", &files).expect("a root"), Path::new("p"));
    }

    #[test]
    fn without_infra_yaml_the_nearest_sign_wins() {
        let root = root_from("a/b/c", &["a/.git", "a/b/cluster.yaml"]);

        assert_eq!(root.expect("a root"), Path::new("a/b"));
    }

    #[test]
    fn inside_a_stack_the_project_is_the_folder_above_the_stack_root() {
        let file = "p/infrastructure/02-platforms/k8s/main.tf";

        let from_stack = root_from("p/infrastructure/02-platforms/k8s", &[file]);
        let from_layer = root_from("p/infrastructure/02-platforms", &[file]);

        assert_eq!(from_stack.expect("a root"), Path::new("p"));
        assert_eq!(from_layer.expect("a root"), Path::new("p"));
    }

    #[test]
    fn inside_tofu_the_project_is_the_folder_above() {
        let root = root_from("p/tofu", &["p/tofu/stacks/onprem/a/main.tofu"]);

        assert_eq!(root.expect("a root"), Path::new("p"));
    }

    #[test]
    fn a_lone_folder_of_tofu_files_is_its_own_project_even_from_its_modules() {
        let files = ["p/main.tf", "p/modules/vm/main.tf"];

        assert_eq!(root_from("p", &files).expect("a root"), Path::new("p"));
        assert_eq!(root_from("p/modules/vm", &files).expect("a root"), Path::new("p"));
    }

    #[test]
    fn a_folder_in_no_project_is_an_error_that_says_what_to_add() {
        let error = root_from("empty", &["notes.txt"]).expect_err("no root");

        assert_eq!(error.kind(), Kind::Invalid);
        assert!(error.hints()[0].contains("infra.yaml"), "{error}");
    }
}
