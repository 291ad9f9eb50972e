//! Everything that a stack is made from, as it lies in the tree now: what decides what its plan is.
//!
//! Its own folder, the local modules that it uses over any number of steps, and the files that its
//! settings name or that it shares. What is rendered into one of these lies there as well; which
//! template makes a file is known by its name (`render::template_of`).

use std::path::{Path, PathBuf};

use super::named_files::{NamedFilePlace, named_files, shared_files};
use super::remembered::Remembered;
use crate::model::{Project, Stack};
use crate::stacks::settings::SettingsBook;

/// What a stack is made from; paths are absolute.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StackSources {
    /// The stack's own folder. Folders in it that are stacks or modules themselves do not count.
    pub folder: PathBuf,
    /// The folders of local modules.
    pub modules: Vec<PathBuf>,
    /// Files of variables, of secrets and for the backend, wherever they lie, whether they are there or not.
    pub files: Vec<PathBuf>,
}

impl StackSources {
    /// Returns whether a path is one of the sources, or below one of them.
    pub fn contain(&self, path: &Path) -> bool {
        let folders = std::iter::once(&self.folder).chain(&self.modules);
        folders.chain(&self.files).any(|source| path.starts_with(source))
    }
}

/// Returns the sources of stacks, in their order.
pub fn sources_of(project: &Project, stacks: &[&Stack]) -> Vec<StackSources> {
    let (tree, book) = (Remembered::default(), SettingsBook::of(project));
    let place = NamedFilePlace { project, root: &project.root, tree: &tree };
    let sources = |stack: &&Stack| {
        let (folder, settings) = (project.root.join(&stack.path), book.settings_for(&stack.id));
        let mut files = named_files(place, &folder, &settings);
        files.extend(shared_files(place, &folder, &settings));
        let modules = stack.modules.iter().map(|module| project.root.join(module)).collect();
        StackSources { folder, modules, files }
    };
    stacks.iter().map(sources).collect()
}
