//! The files that settings give to a stack from anywhere: of variables, of secrets, for its backend.
//!
//! Names only: whether a file is there is asked of the tree of one side. Begin at [`named_files`].

use std::path::{Path, PathBuf};

use crate::model::BackendConfig;
use crate::model::{Project, StackSettings, without_dots};
use crate::stacks::files::{EntryKind, Tree};

/// The file in which secrets lie that several stacks share.
const SHARED: &str = "secrets.sops.yaml";

/// What settings are read in: the project without links, and one side of its tree.
#[derive(Clone, Copy)]
pub struct NamedFilePlace<'a> {
    pub project: &'a Project,
    pub root: &'a Path,
    pub tree: &'a dyn Tree,
}

/// Returns the files that a stack in a folder is given by its settings, as absolute paths.
pub fn named_files(place: NamedFilePlace<'_>, folder: &Path, settings: &StackSettings) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = settings.var_files.iter().map(|file| folder.join(file)).collect();
    files.extend(settings.backend_config.iter().filter_map(|entry| match entry {
        BackendConfig::File(file) => Some(folder.join(file)),
        BackendConfig::Values(_) => None,
    }));
    files.extend(settings.secrets.iter().map(|file| near(place, folder, file)));
    files.iter().map(|file| without_dots(file)).collect()
}

/// Returns the encrypted files that a stack in a folder shares with others, unless it names its own.
pub fn shared_files(place: NamedFilePlace<'_>, folder: &Path, settings: &StackSettings) -> Vec<PathBuf> {
    if !settings.secrets.is_empty() {
        return Vec::new();
    }
    let named = &place.project.secrets.files;
    if !named.is_empty() {
        return named.iter().map(|file| without_dots(&place.root.join(file))).collect();
    }
    let above = folder.ancestors().skip(1).take_while(|above| above.starts_with(place.root));
    above.map(|above| above.join(SHARED)).find(|file| is_there(place.tree, file)).into_iter().collect()
}

/// Paths of secrets are relative to the stack, or to the project.
fn near(place: NamedFilePlace<'_>, folder: &Path, file: &str) -> PathBuf {
    let near = without_dots(&folder.join(file));
    if is_there(place.tree, &near) { near } else { place.root.join(file) }
}

/// Returns whether something is at a path that is no folder.
fn is_there(tree: &dyn Tree, path: &Path) -> bool {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let entries = tree.entries(folder).unwrap_or_default();
    entries.iter().any(|(entry, kind)| entry == name && *kind != EntryKind::Folder)
}
