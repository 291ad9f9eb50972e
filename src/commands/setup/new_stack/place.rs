//! Where a new stack goes: what was typed is a path from the working folder or from the root, or an
//! id below the folder that stacks lie in. Begin at [`resolve`].

use std::path::{Component, Path, PathBuf};

use super::is_taken;
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Error, Result};
use crate::model::{CONVENTIONAL_ROOTS, Stack, StackId};

/// The place of a new stack.
#[derive(Debug)]
pub struct NewPlace {
    /// Its id.
    pub id: StackId,
    /// Its folder, relative to the project's root.
    pub path: PathBuf,
    /// Its folder, absolute.
    pub folder: PathBuf,
}

impl NewPlace {
    /// Returns the outermost folder that has to be made.
    pub fn first_missing_folder(&self) -> PathBuf {
        let missing = self.folder.ancestors().take_while(|folder| !folder.exists());
        missing.last().unwrap_or(&self.folder).to_owned()
    }
}

/// Returns the place that was typed; nothing may be there yet.
pub fn resolve(typed: &Path, loaded: &LoadedProject, from: Option<&Stack>, cwd: &Path) -> Result<NewPlace> {
    let root = &loaded.project.root;
    let roots = stack_roots(loaded, from);
    let here = below(root, &cwd.join(typed));
    let from_root = below(root, &root.join(typed));
    let found = [here, from_root].into_iter().flatten().find_map(|path| Some((id(&roots, &path)?, path)));
    let found = found.or_else(|| {
        let path = below(root, &root.join(roots.first()?).join(typed))?;
        Some((id(&roots, &path)?, path))
    });
    let Some((id, path)) = found else {
        return Err(Error::usage(format!("`{}` is not inside the project", typed.display()))
            .hint("name a folder below the stacks: `infra new-stack 01-hypervisors/pve3`"));
    };
    let folder = root.join(&path);
    if is_taken(&folder) {
        return Err(
            Error::usage(format!("`{}` is there already", path.display())).hint("choose another name")
        );
    }
    Ok(NewPlace { id, path, folder })
}

/// Returns the folders that stacks lie in, that of the original first.
fn stack_roots(loaded: &LoadedProject, from: Option<&Stack>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = from.into_iter().chain(&loaded.stacks).map(root_of).collect();
    roots.extend(loaded.project.stack_roots.iter().cloned());
    if roots.is_empty() {
        roots.push(PathBuf::from(CONVENTIONAL_ROOTS[0]));
    }
    roots.dedup();
    roots
}

/// Returns a stack's path without its id.
fn root_of(stack: &Stack) -> PathBuf {
    let depth = if stack.id.as_str() == "." { 0 } else { stack.id.as_str().split('/').count() };
    stack.path.ancestors().nth(depth).unwrap_or(&stack.path).to_owned()
}

/// Returns the id of a folder strictly below one of the roots.
fn id(roots: &[PathBuf], path: &Path) -> Option<StackId> {
    let below = roots.iter().find_map(|root| {
        let root = if root == Path::new(".") { Path::new("") } else { root };
        path.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty())
    })?;
    let segments: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    Some(StackId::new(segments.join("/")))
}

/// Returns a path relative to the root, without dots; none where it leads out.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = clean.pop(),
            other => clean.push(other),
        }
    }
    clean.strip_prefix(root).ok().map(Path::to_owned)
}
