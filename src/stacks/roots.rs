//! Where stacks are looked for: the folders that `infra.yaml` names, or the first
//! conventional one that contains a stack. Begin at [`search`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::choice::shortened;
use super::files::{Boundaries, Disk, Folder, Library, ReadFolder, Tree, Walk, Wanted, walk, walk_outside};
use crate::model::{CONVENTIONAL_ROOTS, Project, nearest};

/// A folder that may be a stack, and the root its id counts from.
#[derive(Clone, Debug)]
pub struct StackFolder {
    /// The absolute path of the stack root.
    pub root: PathBuf,
    /// The folder.
    pub folder: Folder,
}

/// The stacks of a project as folders, with everything that was read on the way.
#[derive(Debug, Default)]
pub struct Search {
    /// The folders that are stacks.
    pub stacks: Vec<StackFolder>,
    /// The folders below module folders, whether somebody uses them or not.
    pub modules: Vec<PathBuf>,
    /// What was read in them and in their modules.
    pub library: Library,
    /// Remarks for stderr.
    pub notes: Vec<String>,
}

/// Finds the stacks of a project whose canonical root is `base`.
pub fn search(project: &Project, base: &Path) -> Search {
    let look = RootSearch { project, base, tree: &Disk, wanted: Wanted::Facts, known: &|_| None };
    let mut found = search_in(&look);
    if project.stack_roots.is_empty() && !found.stacks.is_empty() {
        found.notes.extend(leftovers(&found, boundaries(project, base)));
    }
    found
}

/// Where stacks are looked for.
pub struct RootSearch<'a> {
    /// The settings.
    pub project: &'a Project,
    /// The root, without links.
    pub base: &'a Path,
    /// The files.
    pub tree: &'a dyn Tree,
    /// What files are read for.
    pub wanted: Wanted,
    /// What was read of folders elsewhere and holds here too.
    pub known: &'a dyn Fn(&Path) -> Option<Arc<ReadFolder>>,
}

/// Finds the stacks in a tree; what lies beside its root is not looked at.
pub fn search_in(look: &RootSearch<'_>) -> Search {
    if look.project.stack_roots.is_empty() { conventional(look) } else { named(look) }
}

/// Searches the roots that `infra.yaml` names; they may use each other's folders as modules.
fn named(look: &RootSearch<'_>) -> Search {
    let RootSearch { project, base, tree, .. } = *look;
    let boundaries = boundaries(project, base);
    let mut notes = Vec::new();
    let mut walks = Vec::new();
    for root in &project.stack_roots {
        match tree.real(&base.join(root)) {
            Some(path) if tree.is_folder(&path) => walks.push((path.clone(), walk(tree, &path, &boundaries))),
            _ => notes.push(missing_root(root, base)),
        }
    }
    let mut found = classify(look, walks);
    found.notes.splice(0..0, notes);
    found
}

fn missing_root(root: &Path, base: &Path) -> String {
    let beside = Folder::list(base).map(|folder| folder.subfolders).unwrap_or_default();
    let guess = nearest(&root.to_string_lossy(), beside.iter().map(String::as_str));
    let hint = guess.map(|guess| format!("; did you mean `{guess}`?")).unwrap_or_default();
    format!("infra.yaml: the stack root `{}` does not exist{hint}", root.display())
}

/// Searches the first conventional root that contains a stack; the project itself is the last.
fn conventional(look: &RootSearch<'_>) -> Search {
    let RootSearch { project, base, tree, .. } = *look;
    let boundaries = boundaries(project, base);
    let is_real = |path: &PathBuf| tree.link(path).is_none() && tree.is_folder(path);
    let candidates = CONVENTIONAL_ROOTS.iter().map(|root| base.join(root)).filter(is_real);
    let mut last = Search::default();
    for path in candidates.chain([base.to_path_buf()]) {
        let walk = walk(tree, &path, &boundaries);
        let found = classify(look, vec![(path.clone(), walk)]);
        if !found.stacks.is_empty() {
            return found;
        }
        last = found;
    }
    last
}

/// Templates are not stacks before they are rendered.
fn boundaries(project: &Project, base: &Path) -> Boundaries {
    let inputs = project.configure.inputs.iter().map(String::as_str);
    let templates =
        inputs.chain(["templates/config"]).map(|input| base.join(input)).filter(|path| path != base);
    Boundaries { base: base.to_path_buf(), skipped: templates.collect() }
}

/// Tells stacks from modules and from folders of shared snippets.
fn classify(look: &RootSearch<'_>, walks: Vec<(PathBuf, Walk)>) -> Search {
    let folders =
        walks.iter().flat_map(|(_, walk)| walk.folders.iter().chain(&walk.modules)).collect::<Vec<_>>();
    let library = Library::follow_beyond(look.tree, look.base, &folders, (look.wanted, look.known));
    let linked = folders.iter().flat_map(|folder| folder.outward_links()).collect::<BTreeSet<_>>();
    let used = library.used_as_modules();
    // Roots may overlap; a folder belongs to the first one that holds it.
    let mut seen = BTreeSet::new();
    let mut stacks = Vec::new();
    for (root, walk) in &walks {
        for folder in walk.folders.iter().filter(|folder| is_on_its_own(folder, &used, &linked)) {
            if seen.insert(&folder.path) {
                stacks.push(StackFolder { root: root.clone(), folder: folder.clone() });
            }
        }
    }
    let mut notes = walks.iter().flat_map(|(_, walk)| walk.notes.clone()).collect::<Vec<_>>();
    notes.extend(unused_cycles(&library, &stacks, &walks));
    let modules = walks.into_iter().flat_map(|(_, walk)| walk.modules).map(|folder| folder.path).collect();
    Search { stacks, modules, library, notes }
}

/// Names cycles of modules that no stack leads to: each folder in one is used, so none is a stack.
fn unused_cycles(library: &Library, stacks: &[StackFolder], walks: &[(PathBuf, Walk)]) -> Vec<String> {
    let mut told = BTreeSet::new();
    for stack in stacks {
        told.insert(stack.folder.path.as_path());
        told.extend(library.modules_of(&stack.folder.path));
    }
    let mut notes = Vec::new();
    for folder in walks.iter().flat_map(|(_, walk)| &walk.folders) {
        if !told.contains(folder.path.as_path())
            && let Some(cycle) = library.cycle_from(&folder.path)
        {
            told.extend(library.modules_of(&folder.path));
            notes.push(cycle);
        }
    }
    notes
}

/// Returns whether nobody uses a folder, neither as a module nor as a source of links.
fn is_on_its_own(folder: &Folder, used: &BTreeSet<&Path>, linked: &BTreeSet<&Path>) -> bool {
    !used.contains(folder.path.as_path()) && !folder.is_only_linked_to(linked)
}

/// Names folders with OpenTofu files outside the root that no stack uses.
fn leftovers(found: &Search, mut boundaries: Boundaries) -> Option<String> {
    let root = found.stacks.first()?.root.as_path();
    if root == boundaries.base {
        return None;
    }
    boundaries.skipped.push(root.to_path_buf());
    let walk = walk_outside(&boundaries);
    let used = found.library.used_as_modules();
    let linked = found.stacks.iter().flat_map(|stack| stack.folder.outward_links()).collect::<BTreeSet<_>>();
    let shown = |path: &Path| path.strip_prefix(&boundaries.base).unwrap_or(path).display().to_string();
    let unused = walk.folders.iter().filter(|folder| is_on_its_own(folder, &used, &linked));
    let mut names = unused.map(|folder| shown(&folder.path)).collect::<Vec<_>>();
    names.sort();
    let root = shown(root);
    (!names.is_empty())
        .then(|| format!("OpenTofu files outside `{root}` are not listed: {}", shortened(&names)))
}
