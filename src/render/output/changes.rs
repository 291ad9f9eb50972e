//! The difference between the generated files and the tree as it is: pure reading.
//!
//! Says for each file whether it is new, changed, the same, or gone, and which changes would
//! undo what a person did. Nothing is written here. Begin at [`compare_tree`].

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use super::folders::{FolderKind, Folders};
use super::manifest::Manifest;
use crate::error::{Error, Result, io};
use crate::render::GeneratedFile;
use crate::render::regular_file::{open_regular, read_whole};

/// What a `configure` would do to the tree.
#[derive(Debug, Default)]
pub struct TreeChanges {
    /// What is written or removed, by path.
    pub files: Vec<FileChange>,
    /// What a person did that stays, by path.
    pub conflicts: Vec<Conflict>,
    /// How many files are as they should be.
    pub unchanged: usize,
    /// What the tree will have been made of.
    pub manifest: Manifest,
}

impl TreeChanges {
    /// Returns whether the tree is as the templates say.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.conflicts.is_empty()
    }
}

/// One file that is not as it should be.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Where, relative to the root.
    pub path: PathBuf,
    /// What the file holds; `None` if there is no file.
    pub before: Option<Vec<u8>>,
    /// What it will hold; `None` if it is removed.
    pub after: Option<Vec<u8>>,
    /// Its permission bits afterwards.
    pub mode: u32,
}

/// A file that only `--force` replaces.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What would happen to it.
    pub change: FileChange,
    /// Why it stays.
    pub reason: ConflictReason,
}

/// Why a file is not replaced.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConflictReason {
    /// It was generated, and edited since.
    Edited,
    /// It was there before anything was generated.
    Foreign,
}

/// Whether what a person did may be undone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Overwrite {
    /// Yes.
    Force,
    /// No.
    Never,
}

/// What a comparison is made with.
pub struct TreeComparison<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// What was written last time.
    pub manifest: &'a Manifest,
    /// Whether what a person did may be undone.
    pub overwrite: Overwrite,
    /// Tells whether version control has a file as it is, so that replacing it loses nothing.
    pub recorded: &'a dyn Fn(&Path) -> bool,
}

impl std::fmt::Debug for TreeComparison<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeComparison").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Compares the tree with what it should be.
pub fn compare_tree(with: &TreeComparison<'_>, files: &[GeneratedFile]) -> Result<TreeChanges> {
    let mut changes = TreeChanges::default();
    let rendered: HashMap<&Path, &GeneratedFile> =
        files.iter().map(|file| (file.path.as_path(), file)).collect();
    refuse_impossible(files, &rendered)?;
    let leftover = |path: &PathBuf| !rendered.contains_key(path.as_path()) && !is_not_ours(path);
    let mut folders = Folders::new(with.root);
    for path in with.manifest.paths().filter(leftover) {
        with.compare_leftover(&path, &mut folders, &mut changes)?;
    }
    let going: HashSet<PathBuf> = changes.files.iter().map(|change| change.path.clone()).collect();
    for file in files {
        refuse_links(with.root, &file.path, &mut folders)?;
        let before = with.before(&file.path, &going, &mut folders)?;
        with.compare_file(file, before, &mut changes);
    }
    changes.files.sort_by(|a, b| a.path.cmp(&b.path));
    changes.conflicts.sort_by(|a, b| a.change.path.cmp(&b.change.path));
    Ok(changes)
}

impl TreeComparison<'_> {
    /// `before` are the bytes and the mode of what is in the place of the file.
    fn compare_file(&self, file: &GeneratedFile, before: Option<(Vec<u8>, u32)>, changes: &mut TreeChanges) {
        changes.manifest.add(&file.path, &file.bytes);
        changes.manifest.add_origin(&file.path, &file.origin);
        if before.as_ref().is_some_and(|(bytes, mode)| *bytes == file.bytes && *mode == file.mode) {
            changes.unchanged += 1;
            return;
        }
        let before = before.map(|(bytes, _)| bytes);
        let reason = before.as_deref().filter(|before| *before != file.bytes);
        let reason = reason.and_then(|before| self.reason_to_keep(&file.path, before));
        let after = Some(file.bytes.clone());
        let change = FileChange { path: file.path.clone(), before, after, mode: file.mode };
        self.decide(change, reason, changes);
    }

    /// Looks at a file that was generated and no longer is.
    fn compare_leftover(
        &self,
        path: &Path,
        folders: &mut Folders<'_>,
        changes: &mut TreeChanges,
    ) -> Result<()> {
        refuse_links(self.root, path, folders)?;
        // Something else may be there by now; it was not generated here, so it stays.
        let Found::File(before, mode) = look(&self.root.join(path))? else { return Ok(()) };
        let reason = (!self.manifest.wrote(path, &before)).then_some(ConflictReason::Edited);
        let change = FileChange { path: path.to_owned(), before: Some(before), after: None, mode };
        self.decide(change, reason, changes);
        Ok(())
    }

    /// Reads what is in the place of a file. Files in `going` are removed before anything is written, so
    /// they do not count.
    fn before(
        &self,
        path: &Path,
        going: &HashSet<PathBuf>,
        folders: &mut Folders<'_>,
    ) -> Result<Option<(Vec<u8>, u32)>> {
        let is_missing = path.parent().is_some_and(|folder| folders.kind(folder) == FolderKind::Missing);
        if is_missing || path.ancestors().skip(1).any(|above| going.contains(above)) {
            return Ok(None);
        }
        let place = self.root.join(path);
        let what = match look(&place)? {
            Found::Nothing => return Ok(None),
            Found::File(bytes, mode) => return Ok(Some((bytes, mode))),
            Found::Folder if self.is_emptied(path, going) => return Ok(None),
            Found::Folder => "a folder",
            Found::Other => "a link",
            Found::Below(file) => return Err(in_the_way(path, "a file", &file)),
        };
        Err(in_the_way(path, what, &place))
    }

    /// Returns whether everything in a folder is about to be removed.
    fn is_emptied(&self, folder: &Path, going: &HashSet<PathBuf>) -> bool {
        let Ok(entries) = std::fs::read_dir(self.root.join(folder)) else { return false };
        entries.flatten().all(|entry| {
            let path = folder.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { self.is_emptied(&path, going) } else { going.contains(&path) }
        })
    }

    fn decide(&self, change: FileChange, reason: Option<ConflictReason>, changes: &mut TreeChanges) {
        match reason {
            Some(reason) if self.overwrite == Overwrite::Never => {
                changes.manifest.keep(&change.path, self.manifest);
                changes.conflicts.push(Conflict { change, reason });
            }
            _ => changes.files.push(change),
        }
    }

    fn reason_to_keep(&self, path: &Path, before: &[u8]) -> Option<ConflictReason> {
        if self.manifest.wrote(path, before) {
            return None;
        }
        if self.manifest.knows(path) {
            return Some(ConflictReason::Edited);
        }
        (!(self.recorded)(path)).then_some(ConflictReason::Foreign)
    }
}

/// What is in the place of a file.
enum Found {
    Nothing,
    File(Vec<u8>, u32),
    Folder,
    /// A link, or a special file such as a device.
    Other,
    /// A file where a folder would have to be.
    Below(PathBuf),
}

fn look(path: &Path) -> Result<Found> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            let file = path.ancestors().skip(1).find(|above| above.is_file()).unwrap_or(path);
            return Ok(Found::Below(file.to_owned()));
        }
        Err(error) => return Err(io("read", path)(error)),
    };
    if metadata.is_dir() {
        return Ok(Found::Folder);
    }
    if !metadata.is_file() {
        return Ok(Found::Other);
    }
    let (file, metadata) = open_regular(path).map_err(io("read", path))?;
    let bytes = read_whole(&file, metadata.len()).map_err(io("read", path))?;
    Ok(Found::File(bytes, metadata.permissions().mode() & 0o7777))
}

fn in_the_way(path: &Path, what: &str, place: &Path) -> Error {
    Error::invalid(format!("`{}` would be generated, but {what} is there", path.display()))
        .at(place.display())
        .hint("move it out of the way")
}

/// Refuses files of which one would have to be the folder of another, and those that are not ours to write.
fn refuse_impossible(files: &[GeneratedFile], rendered: &HashMap<&Path, &GeneratedFile>) -> Result<()> {
    for file in files {
        if let Some(above) = file.path.ancestors().skip(1).find_map(|above| rendered.get(above)) {
            return Err(Error::invalid(format!(
                "`{}` would be a file and a folder: `{}` and `{}` are rendered to it",
                above.path.display(),
                above.origin,
                file.origin
            )));
        }
        if is_not_ours(&file.path) {
            return Err(Error::invalid(format!("`{}` is no place for generated files", file.path.display()))
                .detail(format!("`{}` is rendered to it", file.origin)));
        }
    }
    Ok(())
}

/// Returns whether a path is in a repository's own folder or in `.infra`: nothing is generated there, and
/// a list of generated files that says so did not come from here.
fn is_not_ours(path: &Path) -> bool {
    let is = |part: Component<'_>, name: &str| part.as_os_str().eq_ignore_ascii_case(name);
    path.components().any(|part| is(part, ".git"))
        || path.components().next().is_some_and(|part| is(part, ".infra"))
}

/// Refuses a path whose folders lead through a link: what it leads to may be outside the project.
fn refuse_links(root: &Path, path: &Path, folders: &mut Folders<'_>) -> Result<()> {
    let mut folder = PathBuf::new();
    for part in path.parent().into_iter().flat_map(Path::components) {
        let Component::Normal(name) = part else {
            return Err(Error::invalid(format!("`{}` leaves the project", path.display())));
        };
        folder.push(name);
        if folders.kind(&folder) == FolderKind::Link {
            return Err(Error::invalid(format!(
                "`{}` would be generated through the link `{}`",
                path.display(),
                root.join(&folder).display()
            ))
            .hint("replace the link by a folder"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
