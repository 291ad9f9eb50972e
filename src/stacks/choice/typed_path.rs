//! Where somebody stands in the project: paths that are typed, and the stacks around and below
//! the working directory. Begin at [`PathContext::new`].

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use crate::model::{Project, Stack, StackId, without_dots};

/// The project's root and the working directory, for names that are paths.
pub struct PathContext<'a> {
    root: PathBuf,
    cwd: PathBuf,
    stacks: &'a [Stack],
    /// Their folders; found out when somebody asks, for each costs a look at the disk.
    folders: OnceCell<Vec<PathBuf>>,
}

/// What a typed path leads to.
#[derive(Debug, Eq, PartialEq)]
pub enum PathTarget {
    /// The stacks in the folder, or below it where it is none itself.
    Stacks(Vec<StackId>),
    /// A part of the project in which no stack is.
    Without(StacklessPart),
    /// A place that is no part of the project.
    Outside(PathBuf),
    /// Nothing is there.
    Nowhere,
}

/// A part of the project in which no stack is.
#[derive(Debug, Eq, PartialEq)]
pub struct StacklessPart {
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The stacks whose folder it lies in.
    pub around: Vec<StackId>,
    /// The stacks that use it as a module.
    pub users: Vec<StackId>,
}

impl<'a> PathContext<'a> {
    /// Notes both with their links resolved.
    pub fn new(project: &Project, cwd: &Path, stacks: &'a [Stack]) -> Self {
        Self { root: real(&project.root), cwd: real(cwd), stacks, folders: OnceCell::new() }
    }

    /// Returns the root of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns what a typed path leads to from the working directory; one that is not marked as a
    /// path may begin at the root of the project too.
    pub fn look_at(&self, typed: &str) -> PathTarget {
        let from_here = self.found(&self.cwd.join(typed));
        if is_path(typed) || matches!(from_here, PathTarget::Stacks(_)) {
            return from_here;
        }
        match self.found(&self.root.join(typed)) {
            PathTarget::Nowhere | PathTarget::Outside(_) => from_here,
            from_root => from_root,
        }
    }

    /// Returns the stacks of the deepest stack folder that the working directory is in.
    pub fn around(&self) -> Vec<StackId> {
        self.around_of(&self.cwd)
    }

    /// Returns the stacks at or below the working directory.
    pub fn below(&self) -> Vec<StackId> {
        self.ids(|folder| folder.starts_with(&self.cwd))
    }

    fn found(&self, path: &Path) -> PathTarget {
        let path = real(path);
        let at = self.ids(|folder| folder == path);
        let found = if at.is_empty() { self.ids(|folder| folder.starts_with(&path)) } else { at };
        // A folder above the project holds other things too, of which this project knows nothing;
        // one beside it is a part all the same if the project links to it.
        let is_above = self.root.starts_with(&path) && self.root != path;
        match path.starts_with(&self.root) {
            _ if !found.is_empty() && !is_above => PathTarget::Stacks(found),
            _ if !path.exists() => PathTarget::Nowhere,
            true => PathTarget::Without(StacklessPart {
                is_folder: path.is_dir(),
                around: self.around_of(&path),
                users: self.users_of(&path),
            }),
            false => PathTarget::Outside(path),
        }
    }

    fn around_of(&self, path: &Path) -> Vec<StackId> {
        let around = self.folders().iter().filter(|folder| path.starts_with(folder));
        match around.max_by_key(|folder| folder.components().count()) {
            Some(deepest) => self.ids(|folder| folder == deepest),
            None => Vec::new(),
        }
    }

    /// Returns the stacks that use a module in a folder, or below it.
    fn users_of(&self, path: &Path) -> Vec<StackId> {
        let Ok(below_root) = path.strip_prefix(&self.root) else { return Vec::new() };
        let uses = |stack: &&Stack| stack.modules.iter().any(|module| module.starts_with(below_root));
        self.stacks.iter().filter(uses).map(|stack| stack.id.clone()).collect()
    }

    fn ids(&self, is_meant: impl Fn(&Path) -> bool) -> Vec<StackId> {
        let meant = self.stacks.iter().zip(self.folders()).filter(|(_, folder)| is_meant(folder));
        meant.map(|(stack, _)| stack.id.clone()).collect()
    }

    fn folders(&self) -> &[PathBuf] {
        self.folders
            .get_or_init(|| self.stacks.iter().map(|stack| real(&self.root.join(&stack.path))).collect())
    }
}

/// Returns whether something typed is a path whatever the stacks are called.
pub fn is_path(typed: &str) -> bool {
    // `.@dev` is the id of a stack at the root in one of its workspaces.
    typed.starts_with(['.', '/']) && !typed.starts_with(".@")
}

/// Returns a path with its links followed as the system does it; without dots if it is not there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| without_dots(path))
}
