//! One side of a comparison: its stacks and modules, and which of them a path concerns.
//!
//! Begin at [`Side::new`]; [`Side::reach`] answers for one path.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::layout::{Layout, Owner};
use super::links::Links;
use super::named_files::{NamedFilePlace, named_files, shared_files};
use crate::model::is_tofu_file;
use crate::model::{Project, StackId, StackSettings};
use crate::stacks::files::{Facts, Folder, Library, Tree, Wanted, read_folder};
use crate::stacks::settings::SettingsBook;

/// What a side is made from.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "it borrows trees, which have none")]
pub struct SideParts<'a> {
    /// The project as `infra.yaml` says on this side.
    pub project: &'a Project,
    /// Its root, without links.
    pub root: &'a Path,
    /// The folder with `.git`.
    pub top: &'a Path,
    /// The files.
    pub tree: &'a dyn Tree,
}

/// One side: the stacks of a project, and what they are made from.
#[expect(missing_debug_implementations, reason = "it borrows trees, which have none")]
pub struct Side<'a> {
    pub(super) project: &'a Project,
    pub(super) book: SettingsBook<'a>,
    root: &'a Path,
    top: &'a Path,
    tree: &'a dyn Tree,
    layout: Arc<Layout>,
    links: Links,
    named: HashMap<PathBuf, BTreeSet<StackId>>,
    shared: RefCell<HashMap<PathBuf, Vec<PathBuf>>>,
}

/// How a path reaches a stack.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Reach {
    /// It is a file of the stack.
    Own,
    /// It is a file of a module that the stack uses; the folder of the module.
    Module(PathBuf),
    /// The settings give it to the stack.
    Named,
}

impl<'a> Side<'a> {
    /// Takes a side whose stacks are known.
    pub fn new(parts: SideParts<'a>, layout: Arc<Layout>) -> Self {
        let SideParts { project, root, top, tree } = parts;
        let (links, named, shared) = Default::default();
        let book = SettingsBook::of(project);
        let mut side = Self { project, book, root, top, tree, layout, links, named, shared };
        side.named = side.all_named_files();
        side
    }

    /// Takes in the links of this side.
    pub fn with_links<'l>(mut self, links: impl Iterator<Item = &'l Path>) -> Self {
        self.links = Links::of(self.tree, links);
        self
    }

    /// Returns what was read in the folders of this side.
    pub fn library(&self) -> &Library {
        &self.layout.found.library
    }

    /// Returns the folders of the stacks with their ids, in the order in which they were found.
    pub fn stacks(&self) -> impl Iterator<Item = (&Path, &[StackId])> {
        let folders = self.layout.found.stacks.iter().map(|stack| stack.folder.path.as_path());
        folders.zip(self.layout.ids.iter().map(Vec::as_slice))
    }

    /// Returns the folder of a stack.
    pub fn folder_of(&self, id: &StackId) -> Option<&Path> {
        let stack = self.layout.found.stacks.get(*self.layout.places.get(id)?)?;
        Some(&stack.folder.path)
    }

    /// Returns all that is in the files of a stack, which were read for its modules only.
    pub(super) fn facts_of(&self, id: &StackId) -> Option<Facts> {
        let folder = Folder::list_in(self.tree, self.folder_of(id)?).ok()?;
        Some(read_folder(self.tree, self.root, &folder, Wanted::Facts))
    }

    /// Returns the ids of a folder that is a stack.
    pub fn ids_in(&self, folder: &Path) -> &[StackId] {
        match self.layout.owners.get(folder) {
            Some(Owner::Stack(index)) => self.layout.ids.get(*index).map(Vec::as_slice).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns the stacks that a path concerns, and how it reaches each.
    ///
    /// With `whole` everything below the path may have changed as well.
    pub fn reach(&self, path: &Path, whole: bool) -> BTreeMap<StackId, Reach> {
        let mut reached = BTreeMap::new();
        let names = std::iter::once(path.to_owned()).chain(self.links.names_of(path));
        for name in names {
            let claimed = self.named_by(&name, whole);
            if let Some(owner) = self.owner_of(&name) {
                self.add_owner(owner, (&name, &claimed), &mut reached);
            }
            if whole {
                for (folder, owner) in self.owners_below(&name) {
                    self.add_owner((folder, owner), (&name, &BTreeSet::new()), &mut reached);
                }
            }
            for id in claimed {
                reached.entry(id).or_insert(Reach::Named);
            }
        }
        reached
    }

    /// Returns the modules on the way from a stack to one that it uses, both ends left out.
    pub fn way_to(&self, stack: &Path, module: &Path) -> Vec<PathBuf> {
        let mut from: BTreeMap<&Path, &Path> = BTreeMap::new();
        let mut open = VecDeque::from([stack]);
        while let Some(here) = open.pop_front() {
            for used in self.library().folder(here).into_iter().flat_map(|read| &read.uses) {
                if used != stack && !from.contains_key(used.as_path()) {
                    from.insert(used, here);
                    open.push_back(used);
                }
            }
        }
        let mut way = Vec::new();
        let mut here = module;
        while let Some(above) = from.get(here).filter(|above| **above != stack) {
            way.push((*above).to_owned());
            here = above;
        }
        way.reverse();
        way
    }

    fn add_owner(
        &self,
        (folder, owner): (&Path, Owner),
        (name, claimed): (&Path, &BTreeSet<StackId>),
        reached: &mut BTreeMap<StackId, Reach>,
    ) {
        match owner {
            Owner::Stack(index) => {
                let ids = self.layout.ids.get(index).map(Vec::as_slice).unwrap_or_default();
                // A file that workspaces name is theirs, not that of the others in the folder.
                let is_theirs = ids.len() > 1 && !is_tofu(name) && ids.iter().any(|id| claimed.contains(id));
                for id in ids.iter().filter(|id| !is_theirs || claimed.contains(*id)) {
                    reached.insert(id.clone(), Reach::Own);
                }
            }
            Owner::Module => {
                for index in self.layout.users.get(folder).into_iter().flatten() {
                    for id in self.layout.ids.get(*index).into_iter().flatten() {
                        reached.entry(id.clone()).or_insert_with(|| Reach::Module(folder.to_owned()));
                    }
                }
            }
        }
    }

    /// Returns the deepest stack or module around a path; files below hidden folders have none.
    fn owner_of(&self, path: &Path) -> Option<(&Path, Owner)> {
        let folder = path.parent()?;
        // What infra itself reads and writes is no file of a stack that lies at the root.
        let is_ours = |name: &OsStr| name == "infra.yaml" || name == "infra.lock";
        if folder == self.root && path.file_name().is_some_and(is_ours) {
            return None;
        }
        let inside = folder.strip_prefix(self.top).unwrap_or(folder);
        let is_hidden = |part: Component<'_>| {
            part.as_os_str().as_encoded_bytes().starts_with(b".") && part != Component::ParentDir
        };
        if inside.components().any(is_hidden) {
            return None;
        }
        let mut around = folder.ancestors().filter_map(|above| self.layout.owners.get_key_value(above));
        around.next().map(|(folder, owner)| (folder.as_path(), *owner))
    }

    fn owners_below(&self, path: &Path) -> impl Iterator<Item = (&Path, Owner)> {
        let start = self.layout.owners.range(path.to_owned()..);
        let prefix = path.to_owned();
        start
            .take_while(move |(folder, _)| folder.starts_with(&prefix))
            .map(|(folder, owner)| (folder.as_path(), *owner))
    }

    /// Returns the stacks whose settings name a path, or share it.
    fn named_by(&self, path: &Path, whole: bool) -> BTreeSet<StackId> {
        let mut ids = match whole {
            false => self.named.get(path).cloned().unwrap_or_default(),
            true => {
                let below = self.named.iter().filter(|(file, _)| file.starts_with(path));
                below.flat_map(|(_, ids)| ids.clone()).collect()
            }
        };
        if whole || self.may_be_shared(path) {
            for (folder, own) in self.stacks() {
                let shares = |id: &&StackId| {
                    self.shared_by(folder, &self.book.settings_for(id))
                        .iter()
                        .any(|file| file.starts_with(path))
                };
                ids.extend(own.iter().filter(shares).cloned());
            }
        }
        ids
    }

    fn may_be_shared(&self, path: &Path) -> bool {
        let named = &self.project.secrets.files;
        match named.is_empty() {
            true => path.file_name().is_some_and(|name| name == "secrets.sops.yaml"),
            false => named.iter().any(|file| crate::model::without_dots(&self.root.join(file)) == path),
        }
    }

    /// Returns the shared files of a stack; asked once for all stacks of a folder.
    pub(super) fn shared_by(&self, folder: &Path, settings: &StackSettings) -> Vec<PathBuf> {
        if !settings.secrets.is_empty() {
            return Vec::new();
        }
        let above = folder.parent().unwrap_or(folder).to_owned();
        if let Some(known) = self.shared.borrow().get(&above) {
            return known.clone();
        }
        let files = shared_files(self.place(), folder, settings);
        self.shared.borrow_mut().insert(above, files.clone());
        files
    }

    fn place(&self) -> NamedFilePlace<'a> {
        NamedFilePlace { project: self.project, root: self.root, tree: self.tree }
    }

    fn all_named_files(&self) -> HashMap<PathBuf, BTreeSet<StackId>> {
        let mut named: HashMap<PathBuf, BTreeSet<StackId>> = HashMap::new();
        if self.project.stack_settings.is_empty() {
            return named;
        }
        for (folder, ids) in self.stacks() {
            for id in ids {
                for file in named_files(self.place(), folder, &self.book.settings_for(id)) {
                    named.entry(file).or_default().insert(id.clone());
                }
            }
        }
        named
    }
}

fn is_tofu(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is_tofu_file)
}
