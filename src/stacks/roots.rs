//! Where stacks are looked for: the folders that `infra.yaml` names, or the first
//! conventional one that contains a stack. Begin at [`search`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::modules::Library;
use super::walk::{Boundaries, Walk, walk, walk_outside};
use crate::model::layout::CONVENTIONAL_ROOTS;
use crate::model::{Project, nearest};

/// A stack root with the folders below it that are stacks.
#[derive(Debug)]
pub struct StackRoot {
    /// Its absolute path.
    pub path: PathBuf,
    /// The folders that are stacks.
    pub stacks: Vec<Folder>,
    /// Everything that was read on the way.
    pub library: Library,
}

/// The roots of a project and what was noticed on the way.
#[derive(Debug, Default)]
pub struct Roots {
    /// The roots that are used.
    pub roots: Vec<StackRoot>,
    /// Remarks for stderr.
    pub notes: Vec<String>,
}

/// Finds the stack roots of a project whose canonical root is `base`.
pub fn search(project: &Project, base: &Path) -> Roots {
    if project.stack_roots.is_empty() { conventional(project, base) } else { named(project, base) }
}

/// Returns the roots that `infra.yaml` names.
fn named(project: &Project, base: &Path) -> Roots {
    let boundaries = boundaries(project, base);
    let mut found = Roots::default();
    for root in &project.stack_roots {
        let path = base.join(root);
        if !path.is_dir() {
            found.notes.push(missing_root(root, base));
            continue;
        }
        let path = path.canonicalize().unwrap_or(path);
        let mut walk = walk(&path, &boundaries);
        found.notes.append(&mut walk.notes);
        found.roots.push(classify(base, path, walk));
    }
    found
}

fn missing_root(root: &Path, base: &Path) -> String {
    let beside = Folder::list(base).map(|folder| folder.subfolders).unwrap_or_default();
    let guess = nearest(&root.to_string_lossy(), beside.iter().map(String::as_str));
    let hint = guess.map(|guess| format!("; did you mean `{guess}`?")).unwrap_or_default();
    format!("infra.yaml: the stack root `{}` does not exist{hint}", root.display())
}

/// Returns the first conventional root that contains a stack; the project itself is the last.
fn conventional(project: &Project, base: &Path) -> Roots {
    let boundaries = boundaries(project, base);
    let candidates =
        CONVENTIONAL_ROOTS.iter().map(|root| base.join(root)).filter(|path| is_real_folder(path));
    for path in candidates.chain([base.to_path_buf()]) {
        let mut walk = walk(&path, &boundaries);
        let mut notes = std::mem::take(&mut walk.notes);
        let root = classify(base, path, walk);
        if !root.stacks.is_empty() {
            notes.extend(leftovers(&root, boundaries));
            return Roots { roots: vec![root], notes };
        }
    }
    Roots::default()
}

fn is_real_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// Templates are not stacks before they are rendered.
fn boundaries(project: &Project, base: &Path) -> Boundaries {
    let inputs = project.configure.inputs.iter().map(String::as_str);
    let templates =
        inputs.chain(["templates/config"]).map(|input| base.join(input)).filter(|path| path != base);
    Boundaries { base: base.to_path_buf(), skipped: templates.collect() }
}

/// Tells stacks from modules and from folders of shared snippets.
fn classify(base: &Path, path: PathBuf, walk: Walk) -> StackRoot {
    let library = Library::follow(base, walk.folders.iter().chain(&walk.modules));
    let linked =
        walk.folders.iter().chain(&walk.modules).flat_map(Folder::outward_links).collect::<BTreeSet<_>>();
    let used = library.used_as_modules();
    let is_stack =
        |folder: &&Folder| !used.contains(folder.path.as_path()) && !folder.is_only_linked_to(&linked);
    let stacks = walk.folders.iter().filter(is_stack).cloned().collect();
    StackRoot { path, stacks, library }
}

/// Names folders with OpenTofu files outside the root that no stack uses.
fn leftovers(root: &StackRoot, mut boundaries: Boundaries) -> Option<String> {
    if root.path == boundaries.base {
        return None;
    }
    boundaries.skipped.push(root.path.clone());
    let walk = walk_outside(&boundaries);
    let used = root.library.used_as_modules();
    let linked = root.stacks.iter().flat_map(Folder::outward_links).collect::<BTreeSet<_>>();
    let unused =
        |folder: &&Folder| !used.contains(folder.path.as_path()) && !folder.is_only_linked_to(&linked);
    let shown = |path: &Path| path.strip_prefix(&boundaries.base).unwrap_or(path).display().to_string();
    let mut names = walk.folders.iter().filter(unused).map(|folder| shown(&folder.path)).collect::<Vec<_>>();
    names.sort();
    let root = shown(&root.path);
    (!names.is_empty())
        .then(|| format!("OpenTofu files outside `{root}` are not listed: {}", shortened(&names)))
}

fn shortened(names: &[String]) -> String {
    let quote = |name: &String| if name.is_empty() { "`.`".to_owned() } else { format!("`{name}`") };
    let shown = names.iter().take(5).map(quote).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(5) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}
