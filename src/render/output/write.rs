//! Makes the tree what it should be: each file old or new, never a part of either.
//!
//! First every new content is written to `.infra/staging`, where a full disk or a refused
//! folder costs nothing; then the manifest learns what is about to come; then files are
//! renamed into place. A run that is killed in between leaves old and new files that the
//! manifest both knows, and the next run finishes. The disk is not waited for: what a
//! power cut takes away can be rendered again.

use std::collections::{HashMap, HashSet};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::changes::{FileChange, TreeChanges};
use super::manifest::Manifest;
use crate::error::{Error, Result, io};
use crate::render::sources::Inputs;

/// Where a tree is written.
#[derive(Clone, Copy, Debug)]
pub struct TreePlace<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// The folder for what this program keeps beside it.
    pub infra_dir: &'a Path,
    /// What was written last time.
    pub before: &'a Manifest,
    /// What the tree is made from, read before it was rendered.
    pub inputs: &'a Inputs,
}

/// Writes and removes what the changes say. If any of it cannot be written, nothing is changed.
pub fn write_tree(place: TreePlace<'_>, changes: &TreeChanges) -> Result<()> {
    if changes.files.is_empty() {
        return remember(place, &changes.manifest);
    }
    let staging = Staging::new(place.infra_dir)?;
    let staged = staging.fill(&changes.files)?;
    refuse_closed_folders(place.root, &changes.files)?;
    announce(place, changes)?;
    // A folder may become a file, or a file a folder, so what goes goes first.
    for change in changes.files.iter().filter(|change| change.after.is_none()) {
        replace_or_remove(&place.root.join(&change.path), None)?;
    }
    remove_empty_parents(place.root, &changes.files);
    let mut made = HashSet::new();
    for (change, staged) in changes.files.iter().zip(&staged).filter(|(_, staged)| staged.is_some()) {
        let target = place.root.join(&change.path);
        make_folder_of(&target, &mut made)?;
        replace_or_remove(&target, staged.as_deref())?;
    }
    remember(place, &changes.manifest)
}

/// Tells the manifest of old and new contents, before the first file changes.
fn announce(place: TreePlace<'_>, changes: &TreeChanges) -> Result<()> {
    // Until all of it is written, the tree is not made from what was read now.
    let mut both = changes.manifest.with_inputs(place.before.inputs());
    for path in place.before.paths().filter(|path| !both.knows(path)).collect::<Vec<_>>() {
        both.keep(&path, place.before);
    }
    for change in &changes.files {
        change.before.iter().for_each(|before| both.add(&change.path, before));
    }
    both.save(place.infra_dir)
}

/// Writes the final manifest; a project without templates gets none.
fn remember(place: TreePlace<'_>, manifest: &Manifest) -> Result<()> {
    let on_disk = Manifest::load(place.infra_dir)?;
    let manifest = manifest.with_inputs(Some(place.inputs));
    if on_disk.says_the_same(&manifest) { Ok(()) } else { manifest.save(place.infra_dir) }
}

/// A folder for contents that are not in their place yet; it goes when the run ends.
struct Staging(tempfile::TempDir);

impl Staging {
    fn new(infra_dir: &Path) -> Result<Self> {
        let dir = infra_dir.join("staging");
        // What a killed run left behind is of no use.
        let _ = std::fs::remove_dir_all(&dir);
        crate::atomic_file::create_private_dir(&dir)?;
        tempfile::TempDir::new_in(&dir).map(Self).map_err(io("write", &dir))
    }

    fn fill(&self, changes: &[FileChange]) -> Result<Vec<Option<PathBuf>>> {
        let staged = changes.iter().enumerate().map(|(number, change)| {
            let Some(bytes) = &change.after else { return Ok(None) };
            let path = self.0.path().join(number.to_string());
            stage(&path, bytes, change.mode).map_err(io("write", &change.path))?;
            Ok(Some(path))
        });
        staged.collect()
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Only an empty folder goes: another run may be using it.
        let _ = std::fs::remove_dir_all(self.0.path());
        let _ = self.0.path().parent().map(std::fs::remove_dir);
    }
}

fn stage(path: &Path, bytes: &[u8], mode: u32) -> std::io::Result<()> {
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))
}

/// Refuses folders in which nothing can be made, before anything is.
fn refuse_closed_folders(root: &Path, changes: &[FileChange]) -> Result<()> {
    let mut known = HashMap::new();
    for change in changes {
        let Some(folder) = new_folder_above(&root.join(&change.path), &mut known) else { continue };
        nix::unistd::access(&folder, nix::unistd::AccessFlags::W_OK)
            .map_err(|error| io("write", &change.path)(error.into()).hint("nothing was changed"))?;
    }
    Ok(())
}

/// Returns the folder that exists and is nearest to a path; `None` if it was returned before. Each folder
/// is looked at once: `known` says whether it exists.
fn new_folder_above(path: &Path, known: &mut HashMap<PathBuf, bool>) -> Option<PathBuf> {
    for above in path.ancestors().skip(1) {
        match known.get(above) {
            Some(true) => return None,
            Some(false) => {}
            None => {
                let exists = above.is_dir();
                known.insert(above.to_owned(), exists);
                if exists {
                    return Some(above.to_owned());
                }
            }
        }
    }
    None
}

/// Makes the folder of a file, unless it was made for another one before.
fn make_folder_of(target: &Path, made: &mut HashSet<PathBuf>) -> Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    if made.contains(folder) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| unfinished(target, error))?;
    made.insert(folder.to_owned());
    Ok(())
}

/// Puts a staged content into its place, or takes the file away.
fn replace_or_remove(target: &Path, staged: Option<&Path>) -> Result<()> {
    let done = match staged {
        Some(staged) => move_file(staged, target),
        None => std::fs::remove_file(target),
    };
    match done {
        Err(error) if staged.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unfinished(target, error)),
        Ok(()) => Ok(()),
    }
}

/// Renames a file, over the border of file systems if need be.
fn move_file(staged: &Path, target: &Path) -> std::io::Result<()> {
    match std::fs::rename(staged, target) {
        Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
            let folder = target.parent().unwrap_or(Path::new("."));
            let file = tempfile::NamedTempFile::new_in(folder)?;
            std::fs::copy(staged, file.path())?;
            file.persist(target)?;
            Ok(())
        }
        done => done,
    }
}

fn unfinished(target: &Path, error: std::io::Error) -> Error {
    io("write", target)(error).hint("some files are new and some old; run `infra configure` again to finish")
}

/// Removes the folders that lost their last file.
fn remove_empty_parents(root: &Path, changes: &[FileChange]) {
    for change in changes.iter().filter(|change| change.after.is_none()) {
        let parents = change.path.ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
        let parents: Vec<PathBuf> = parents.map(|dir| root.join(dir)).collect();
        remove_empty(parents.iter().map(PathBuf::as_path));
    }
}

/// Removes folders as far as they are empty.
fn remove_empty<'a>(folders: impl Iterator<Item = &'a Path>) {
    for folder in folders {
        // A folder with something in it stays; that is what the system's refusal means.
        let _ = std::fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::GeneratedFile;
    use crate::render::output::changes::{Overwrite, TreeComparison, compare_tree};

    struct TestTree(tempfile::TempDir);

    impl TestTree {
        fn infra_dir(&self) -> PathBuf {
            self.0.path().join(".infra")
        }

        /// Compares and writes, as `configure` does.
        fn configure(&self, files: &[(&str, &str)]) -> Result<TreeChanges> {
            let before = Manifest::load(&self.infra_dir())?;
            let files: Vec<GeneratedFile> = files.iter().map(generated).collect();
            let with = TreeComparison {
                root: self.0.path(),
                manifest: &before,
                overwrite: Overwrite::Never,
                recorded: &|_| false,
            };
            let changes = compare_tree(&with, &files)?;
            let (root, inputs) = (self.0.path(), &Inputs::default());
            let place = TreePlace { root, infra_dir: &self.infra_dir(), before: &before, inputs };
            write_tree(place, &changes)?;
            Ok(changes)
        }

        fn text(&self, path: &str) -> Option<String> {
            std::fs::read_to_string(self.0.path().join(path)).ok()
        }
    }

    fn generated((path, text): &(&str, &str)) -> GeneratedFile {
        GeneratedFile { path: path.into(), bytes: (*text).into(), mode: 0o640, origin: "a template".into() }
    }

    fn lab() -> TestTree {
        TestTree(tempfile::tempdir().unwrap())
    }

    #[test]
    fn files_are_written_with_their_mode_and_removed_with_their_folders() {
        let lab = lab();
        lab.configure(&[("a/b/one", "1"), ("two", "2")]).unwrap();
        let mode = std::fs::metadata(lab.0.path().join("two")).unwrap().permissions().mode();

        lab.configure(&[("two", "2")]).unwrap();

        assert_eq!(mode & 0o777, 0o640);
        assert_eq!((lab.text("a/b/one"), lab.text("two")), (None, Some("2".into())));
        assert!(!lab.0.path().join("a").exists() && !lab.infra_dir().join("staging").exists());
    }

    #[test]
    fn a_run_without_changes_touches_neither_files_nor_manifest() {
        let lab = lab();
        lab.configure(&[("one", "1")]).unwrap();
        let times = || {
            let of = |path: PathBuf| std::fs::metadata(path).unwrap().modified().unwrap();
            (of(lab.0.path().join("one")), of(Manifest::path(&lab.infra_dir())))
        };
        let before = times();

        let changes = lab.configure(&[("one", "1")]).unwrap();

        assert!(changes.is_empty());
        assert_eq!(times(), before);
    }

    #[test]
    fn a_run_that_was_killed_between_two_files_is_finished_by_the_next() {
        let lab = lab();
        lab.configure(&[("one", "old"), ("two", "old")]).unwrap();
        let before = Manifest::load(&lab.infra_dir()).unwrap();
        let new = [("one", "new"), ("two", "new")].iter().map(generated).collect::<Vec<_>>();
        let with = TreeComparison {
            root: lab.0.path(),
            manifest: &before,
            overwrite: Overwrite::Never,
            recorded: &|_| false,
        };
        let changes = compare_tree(&with, &new).unwrap();
        let (root, inputs) = (lab.0.path(), &Inputs::default());
        let place = TreePlace { root, infra_dir: &lab.infra_dir(), before: &before, inputs };
        announce(place, &changes).unwrap();
        std::fs::write(lab.0.path().join("one"), "new").unwrap();

        let other = lab.configure(&[("one", "newer"), ("two", "new")]).unwrap();

        assert!(other.conflicts.is_empty());
        assert_eq!((lab.text("one"), lab.text("two")), (Some("newer".into()), Some("new".into())));
    }

    #[test]
    fn what_cannot_be_written_leaves_everything_as_it_was() {
        let lab = lab();
        lab.configure(&[("one", "old")]).unwrap();
        std::fs::write(lab.0.path().join("file"), "in the way").unwrap();

        let error = lab.configure(&[("one", "new"), ("fresh/x", "1"), ("file/below", "x")]).unwrap_err();

        assert!(error.to_string().contains("file"), "{error}");
        assert_eq!(lab.text("one"), Some("old".into()));
        assert!(!lab.0.path().join("fresh").exists());
    }

    #[test]
    fn a_folder_becomes_a_file_and_a_file_a_folder() {
        let lab = lab();
        lab.configure(&[("a/x", "1"), ("b", "1")]).unwrap();

        lab.configure(&[("a", "2"), ("b/y", "2")]).unwrap();

        assert_eq!((lab.text("a"), lab.text("b/y")), (Some("2".into()), Some("2".into())));
        assert!(lab.configure(&[("a", "2"), ("b/y", "2")]).unwrap().is_empty());
    }
}
