//! Where somebody stands in the project: paths that are typed, and the stack around the
//! working directory. Begin at [`Place::new`].

use std::path::{Component, Path, PathBuf};

use crate::model::{Project, Stack};

/// The project's root and the working directory, for names that are paths.
pub struct Place {
    root: PathBuf,
    cwd: PathBuf,
}

impl Place {
    /// Notes both with their links resolved.
    pub fn new(project: &Project, cwd: &Path) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Self { root: real(&project.root), cwd: real(cwd) }
    }

    /// Returns the stack whose folder a path names, from the working directory or from the root.
    pub fn stack_at<'a>(&self, name: &str, stacks: &'a [Stack]) -> Option<&'a Stack> {
        let candidates = [resolved(&self.cwd, name), resolved(&self.root, name)];
        candidates
            .iter()
            .find_map(|path| stacks.iter().find(|stack| same(&self.root.join(&stack.path), path)))
    }

    /// Returns the deepest stack that the working directory is in.
    pub fn stack_around<'a>(&self, stacks: &'a [Stack]) -> Option<&'a Stack> {
        let around = stacks.iter().filter(|stack| self.cwd.starts_with(self.root.join(&stack.path)));
        around.max_by_key(|stack| self.root.join(&stack.path).components().count())
    }
}

/// Compares by components, so that a trailing slash makes no difference.
fn same(one: &Path, other: &Path) -> bool {
    one.components().eq(other.components())
}

/// Returns a typed path from a folder, without dots.
fn resolved(from: &Path, typed: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in from.join(typed).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = path.pop(),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => path.push(part),
        }
    }
    path
}
