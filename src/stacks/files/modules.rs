//! Follows local module sources from folder to folder. Every folder is read once, however
//! many use it, and a cycle of modules ends where it began. Begin at [`Library::follow`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::facts::{Facts, ModuleBlock};
use super::folder::Folder;
use super::reading::{Wanted, read_folder, read_folders};
use super::source_template::possible_folders;
use super::tree::Tree;
use crate::model::without_dots;
use crate::stacks::submodules::{FETCH_SUBMODULES, MissingSubmodule, missing_submodules};
use crate::syntax::Setting;

/// Every folder that was read, by its absolute path.
#[derive(Debug, Default)]
pub struct Library {
    base: PathBuf,
    submodules: Vec<MissingSubmodule>,
    folders: BTreeMap<PathBuf, Arc<ReadFolder>>,
}

/// A folder with what was read in it and where its local sources lead.
#[derive(Debug)]
pub struct ReadFolder {
    /// What was read.
    pub facts: Facts,
    /// The folders its local sources lead to, itself not among them.
    pub uses: BTreeSet<PathBuf>,
    /// Local sources that lead nowhere, with file and line.
    pub dead_ends: Vec<String>,
    /// Every local source that leads somewhere, itself included.
    pub calls: Vec<Call>,
}

/// A module block that leads to a folder.
#[derive(Debug)]
pub struct Call {
    /// The folder.
    pub target: PathBuf,
    /// The name of the module.
    pub name: String,
    /// File and line.
    place: String,
}

/// Returns the folders that a module may lie in whose source is a template.
fn folders_of_template(tree: &dyn Tree, dir: &Path, block: &ModuleBlock) -> Vec<PathBuf> {
    let Some(Setting::Expression(source)) = &block.source else { return Vec::new() };
    let found = possible_folders(tree, dir, source).into_iter().filter_map(|path| tree.real(&path));
    found.filter(|path| path != dir).collect()
}

impl Library {
    /// Reads the folders and, from there, every local module they lead to.
    pub fn follow(tree: &dyn Tree, base: &Path, folders: &[&Folder]) -> Self {
        Self::follow_beyond(tree, base, folders, (Wanted::Facts, |_| None))
    }

    /// Reads the folders and where they lead, but those not that `known` has.
    pub fn follow_beyond(
        tree: &dyn Tree,
        base: &Path,
        folders: &[&Folder],
        (wanted, known): (Wanted, impl Fn(&Path) -> Option<Arc<ReadFolder>>),
    ) -> Self {
        let submodules = missing_submodules(base);
        let mut library = Self { base: base.to_path_buf(), submodules, folders: BTreeMap::new() };
        let mut open = BTreeSet::new();
        let mut unknown = Vec::new();
        for folder in folders {
            match known(&folder.path) {
                Some(read) => open.extend(library.keep(&folder.path, read)),
                None => unknown.push(*folder),
            }
        }
        for (folder, facts) in unknown.iter().zip(read_folders(tree, base, &unknown, wanted)) {
            open.extend(library.add(tree, folder, facts));
        }
        while let Some(path) = open.pop_first() {
            if library.folders.contains_key(&path) {
                continue;
            }
            if let Some(read) = known(&path) {
                open.extend(library.keep(&path, read));
                continue;
            }
            // A target without a listing was a folder a moment ago; tofu will say what became of it.
            let Ok(folder) = Folder::list_in(tree, &path) else { continue };
            let facts = read_folder(tree, &library.base, &folder, wanted);
            open.extend(library.add(tree, &folder, facts));
        }
        library
    }

    /// Takes over what was read elsewhere, and returns where it leads.
    fn keep(&mut self, path: &Path, read: Arc<ReadFolder>) -> BTreeSet<PathBuf> {
        let uses = read.uses.clone();
        self.folders.insert(path.to_owned(), read);
        uses
    }

    /// Adds one folder and returns where its local sources lead.
    fn add(&mut self, tree: &dyn Tree, folder: &Folder, facts: Facts) -> BTreeSet<PathBuf> {
        let (mut uses, mut dead_ends, mut calls) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (name, block) in &facts.modules {
            let Some(source) = block.local_source() else {
                uses.extend(folders_of_template(tree, &folder.path, block));
                continue;
            };
            match tree.real(&folder.path.join(source)) {
                Some(target) if tree.is_folder(&target) && self.submodule_around(&target).is_none() => {
                    if target != folder.path {
                        uses.insert(target.clone());
                    }
                    calls.push(Call { target, name: name.clone(), place: block.place.clone() });
                }
                _ => {
                    let why = self.why_nowhere(&folder.path.join(source));
                    dead_ends
                        .push(format!("{}: module `{name}` leads nowhere: `{source}`{why}", block.place));
                }
            }
        }
        let read = ReadFolder { facts, uses, dead_ends, calls };
        self.keep(&folder.path, Arc::new(read))
    }

    /// Returns why a source may lead nowhere, to stand behind that remark.
    fn why_nowhere(&self, target: &Path) -> String {
        let submodule = self.submodule_around(&without_dots(target));
        let words = |name| format!("; the submodule `{name}` is not checked out: `{FETCH_SUBMODULES}`");
        submodule.map(words).unwrap_or_default()
    }

    /// Returns the submodule without content that a path leads into.
    fn submodule_around(&self, path: &Path) -> Option<&str> {
        let mut missing = self.submodules.iter();
        missing.find(|submodule| path.starts_with(&submodule.path)).map(|submodule| submodule.name.as_str())
    }

    /// Returns what was read in a folder.
    pub fn folder(&self, path: &Path) -> Option<&ReadFolder> {
        self.folders.get(path).map(Arc::as_ref)
    }

    /// Returns what was read in a folder, to be kept.
    pub fn kept(&self, path: &Path) -> Option<Arc<ReadFolder>> {
        self.folders.get(path).cloned()
    }

    /// Returns the folders that were read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Returns what was read in all folders.
    pub fn all(&self) -> impl Iterator<Item = &ReadFolder> {
        self.folders.values().map(Arc::as_ref)
    }

    /// Returns every folder that another one uses as a module.
    pub fn used_as_modules(&self) -> BTreeSet<&Path> {
        self.folders.values().flat_map(|folder| &folder.uses).map(PathBuf::as_path).collect()
    }

    /// Returns why a folder can never be prepared: a module below it that leads back to itself.
    pub fn cycle_from(&self, path: &Path) -> Option<String> {
        let calls = |path: &Path| self.folder(path).map_or(&[][..], |folder| &folder.calls).iter();
        let mut done = BTreeSet::new();
        let mut way = vec![(path, calls(path))];
        // A long chain of modules must not overflow the call stack.
        while let Some((here, rest)) = way.last_mut() {
            let Some(call) = rest.next() else {
                done.insert(*here);
                way.pop();
                continue;
            };
            if way.iter().any(|(path, _)| *path == call.target) {
                return Some(self.cycle_words(call));
            }
            if !done.contains(call.target.as_path()) {
                way.push((&call.target, calls(&call.target)));
            }
        }
        None
    }

    fn cycle_words(&self, call: &Call) -> String {
        let target = call.target.strip_prefix(&self.base).unwrap_or(&call.target);
        let target = if target.as_os_str().is_empty() { Path::new(".") } else { target };
        format!(
            "{}: module `{}` leads back to `{}`, which uses it: a ring of modules has no end",
            call.place,
            call.name,
            target.display()
        )
    }

    /// Returns the modules of a folder, its own and those of its modules, by path.
    pub fn modules_of<'a>(&'a self, path: &'a Path) -> BTreeSet<&'a Path> {
        let mut found = BTreeSet::new();
        let mut open = vec![path];
        while let Some(next) = open.pop() {
            let uses = self.folder(next).into_iter().flat_map(|folder| &folder.uses);
            open.extend(uses.map(PathBuf::as_path).filter(|used| *used != path && found.insert(*used)));
        }
        found
    }
}
