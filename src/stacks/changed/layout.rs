//! Which folders are stacks and modules, and which stacks use which module: of one side, or of both
//! where nothing that decides it differs. Begin at [`Survey::take`] and [`Layout::before`].

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::earlier::Earlier;
use super::remembered::Remembered;
use crate::model::{Project, StackId};
use crate::stacks::discover::id_of;
use crate::stacks::files::{Folder, Library, Wanted};
use crate::stacks::roots::{RootSearch, Search, StackFolder, search_in};
use crate::stacks::settings::SettingsBook;

/// The stacks of the tree as it is, found once.
#[derive(Debug)]
pub struct Survey {
    /// The disk as it was looked at.
    pub tree: Remembered,
    /// What was found.
    pub layout: Arc<Layout>,
    /// The links in and below the folders that were looked at.
    pub links: Vec<PathBuf>,
}

impl Survey {
    /// Finds the stacks of a project whose root has no links.
    pub fn take(project: &Project, root: &Path) -> Self {
        let tree = Remembered::default();
        let look = RootSearch { project, base: root, tree: &tree, wanted: Wanted::Modules, known: &|_| None };
        let layout = Layout::new(project, search_in(&look));
        let links = tree.links();
        Self { tree, layout: Arc::new(layout), links }
    }
}

/// Folders of OpenTofu files, and whose they are.
#[derive(Debug)]
pub struct Layout {
    pub(super) found: Search,
    pub(super) owners: BTreeMap<PathBuf, Owner>,
    /// The stacks that use a module, directly or through others.
    pub(super) users: HashMap<PathBuf, Vec<usize>>,
    pub(super) ids: Vec<Vec<StackId>>,
    /// Where the folder of an id stands in the list.
    pub(super) places: HashMap<StackId, usize>,
}

/// Whose a folder is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Owner {
    /// That of the stack at this place of the list.
    Stack(usize),
    /// That of those who use it.
    Module,
}

impl Layout {
    fn new(project: &Project, found: Search) -> Self {
        let book = SettingsBook::of(project);
        let ids: Vec<Vec<StackId>> = found.stacks.iter().map(|stack| ids_of(&book, stack)).collect();
        let placed = ids.iter().enumerate().flat_map(|(at, ids)| ids.iter().map(move |id| (id.clone(), at)));
        let places = placed.collect();
        let (owners, users) = (owners(&found), users_of_modules(&found));
        Self { found, owners, users, ids, places }
    }

    /// Returns what was found before, without reading again what holds on both sides.
    pub fn before(
        (old, new): (&Project, &Project),
        root: &Path,
        tree: &Earlier<'_>,
        now: &Arc<Self>,
    ) -> Arc<Self> {
        let is_same_project = old.stack_settings == new.stack_settings
            && old.stack_roots == new.stack_roots
            && old.configure.inputs == new.configure.inputs;
        if is_same_project && now.holds_before(root, tree) {
            return Arc::clone(now);
        }
        let known = |folder: &Path| tree.unchanged(folder, &now.found.library);
        let look = RootSearch { project: old, base: root, tree, wanted: Wanted::Modules, known: &known };
        Arc::new(Self::new(old, search_in(&look)))
    }

    /// Returns whether files were edited at most, and what they use stayed the same.
    fn holds_before(&self, root: &Path, tree: &Earlier<'_>) -> bool {
        let Some(edited) = tree.only_edited() else { return false };
        let library = &self.found.library;
        let folders = edited.iter().filter(|folder| library.folder(folder).is_some());
        let Ok(folders) = folders.map(|folder| Folder::list_in(tree, folder)).collect::<Result<Vec<_>, _>>()
        else {
            return false;
        };
        let folders: Vec<&Folder> = folders.iter().collect();
        let known = |path: &Path| if edited.contains(path) { None } else { library.kept(path) };
        let before = Library::follow_beyond(tree, root, &folders, (Wanted::Modules, known));
        let used = |library: &Library, path: &Path| library.folder(path).map(|read| read.uses.clone());
        folders.iter().all(|folder| used(&before, &folder.path) == used(library, &folder.path))
    }
}

/// Returns whose each folder of OpenTofu files is. Folders of shared snippets are nobody's.
fn owners(found: &Search) -> BTreeMap<PathBuf, Owner> {
    let used = found.library.used_as_modules().into_iter().map(Path::to_owned);
    let modules = used.chain(found.modules.iter().cloned());
    let mut owners: BTreeMap<PathBuf, Owner> = modules.map(|folder| (folder, Owner::Module)).collect();
    let stacks = found.stacks.iter().enumerate();
    owners.extend(stacks.map(|(index, stack)| (stack.folder.path.clone(), Owner::Stack(index))));
    owners
}

fn users_of_modules(found: &Search) -> HashMap<PathBuf, Vec<usize>> {
    let mut users: HashMap<PathBuf, Vec<usize>> = HashMap::new();
    for (index, stack) in found.stacks.iter().enumerate() {
        for module in found.library.modules_of(&stack.folder.path) {
            users.entry(module.to_owned()).or_default().push(index);
        }
    }
    users
}

/// Returns the ids of a folder: its own, or one for each workspace.
fn ids_of(book: &SettingsBook<'_>, StackFolder { root, folder }: &StackFolder) -> Vec<StackId> {
    let id = id_of(root, &folder.path);
    let workspaces = book.settings_for(&id).workspaces;
    match workspaces.is_empty() {
        true => vec![id],
        false => workspaces.keys().map(|name| id.in_workspace(name)).collect(),
    }
}
