//! The tree as it was: the disk, with every changed path put back. Only what git does not know,
//! and ignores, is taken to be as it was. Begin at [`Earlier::new`].

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::change::{Before, Now, PathChange};
use crate::model::is_tofu_file;
use crate::stacks::files::{Disk, Entries, EntryKind, Library, ReadFolder, Tree};
use crate::syntax::Setting;

/// How many links a path may lead over.
const LINKS: usize = 40;

/// The tree as it was.
#[expect(missing_debug_implementations, reason = "it borrows trees, which have none")]
pub struct Earlier<'a> {
    disk: &'a dyn Tree,
    paths: HashMap<PathBuf, &'a Before>,
    /// What was in folders, as far as the changes tell.
    below: HashMap<PathBuf, HashMap<OsString, EntryKind>>,
    /// Folders in which something changed.
    touched: HashSet<PathBuf>,
    /// Folders whose own OpenTofu files changed.
    edited: HashSet<PathBuf>,
    links_moved: bool,
    /// Whether an OpenTofu file came or went.
    files_moved: bool,
}

impl<'a> Earlier<'a> {
    /// Puts changes back into a tree; of two at one path the first counts if the other is rendered.
    pub fn new(disk: &'a dyn Tree, changes: &'a [PathChange]) -> Self {
        let mut tree = Self {
            disk,
            paths: HashMap::new(),
            below: HashMap::new(),
            touched: HashSet::new(),
            edited: HashSet::new(),
            files_moved: false,
            links_moved: changes.iter().any(|change| change.is_link() || change.is_whole()),
        };
        for change in changes {
            tree.put_back(change);
        }
        tree
    }

    fn put_back(&mut self, change: &'a PathChange) {
        let (Some(folder), Some(name)) = (change.path.parent(), change.path.file_name()) else { return };
        let kind = match &change.before {
            // What was in it is not known here: it is taken as it is.
            Before::Repository => return,
            Before::Nothing => None,
            Before::File(_) => Some(EntryKind::Other),
            Before::Link(_) => Some(EntryKind::Link),
        };
        // What a commit has wins over what templates would render, and so does what nobody rendered.
        let is_unknown = change.before == Before::File(None);
        if !change.because.is_empty() && (is_unknown || self.paths.contains_key(&change.path)) {
            return;
        }
        self.paths.insert(change.path.clone(), &change.before);
        self.touched.insert(folder.to_owned());
        if name.to_str().is_some_and(is_tofu_file) {
            self.edited.insert(folder.to_owned());
            self.files_moved |= kind.is_none() || change.now == Now::Nothing;
        }
        let Some(kind) = kind else { return };
        self.below.entry(folder.to_owned()).or_default().insert(name.to_owned(), kind);
        for inner in folder.ancestors() {
            let (Some(outer), Some(name)) = (inner.parent(), inner.file_name()) else { return };
            let known = self.below.entry(outer.to_owned()).or_default();
            if known.insert(name.to_owned(), EntryKind::Folder).is_some() {
                return;
            }
        }
    }

    /// Returns the folders whose OpenTofu files hold something else, where none came, went or is a link.
    pub fn only_edited(&self) -> Option<&HashSet<PathBuf>> {
        (!self.links_moved && !self.files_moved).then_some(&self.edited)
    }

    /// Returns what was read of a folder now, where nothing that this depends on was different.
    pub fn unchanged(&self, folder: &Path, now: &Library) -> Option<Arc<ReadFolder>> {
        if self.links_moved || self.edited.contains(folder) {
            return None;
        }
        let read = now.kept(folder)?;
        let is_vague = |source: &Option<Setting>| matches!(source, Some(Setting::Expression(_)));
        let is_settled =
            read.dead_ends.is_empty() && !read.facts.modules.values().any(|module| is_vague(&module.source));
        let links = self.disk.entries(folder).ok()?;
        let has_links = links
            .iter()
            .any(|(name, kind)| *kind == EntryKind::Link && name.to_str().is_some_and(is_tofu_file));
        (is_settled && !has_links).then_some(read)
    }

    /// Returns what was in a file; nothing where there was none.
    pub fn text_of(&self, file: &Path) -> Vec<u8> {
        self.content(file).unwrap_or_default()
    }

    /// Returns the path without links, whether something is there or not.
    fn resolved(&self, path: &Path) -> Option<PathBuf> {
        let mut open: Vec<OsString> = parts(path);
        let (mut here, mut links) = (PathBuf::from("/"), 0);
        while let Some(part) = open.pop() {
            if part == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&part);
            match self.link(&next) {
                Some(target) => {
                    links += 1;
                    if links > LINKS {
                        return None;
                    }
                    if target.is_absolute() {
                        here = PathBuf::from("/");
                    }
                    open.extend(parts(&target));
                }
                None => here = next,
            }
        }
        Some(here)
    }
}

/// Returns the parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).rev().collect()
}

impl Tree for Earlier<'_> {
    fn entries(&self, folder: &Path) -> io::Result<Entries> {
        if !self.touched.contains(folder) && !self.below.contains_key(folder) {
            return self.disk.entries(folder);
        }
        let nothing = HashMap::new();
        let (below, found) = (self.below.get(folder), self.disk.entries(folder));
        // A folder that is gone is known by what was in it alone.
        let found = if below.is_some() { found.unwrap_or_default() } else { found? };
        let below = below.unwrap_or(&nothing);
        let is_same =
            |name: &OsString| !self.paths.contains_key(&folder.join(name)) && !below.contains_key(name);
        let kept = found.iter().filter(|(name, _)| is_same(name)).cloned();
        Ok(kept.chain(below.iter().map(|(name, kind)| (name.clone(), *kind))).collect())
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        match self.paths.get(path) {
            Some(Before::Link(target)) => Some(target.clone()),
            Some(_) => None,
            None => self.disk.link(path),
        }
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let real = self.resolved(path)?;
        let is_there = match self.paths.get(&real) {
            Some(Before::Nothing) => self.below.contains_key(&real),
            Some(_) => true,
            None => self.below.contains_key(&real) || real.exists(),
        };
        is_there.then_some(real)
    }

    fn is_folder(&self, path: &Path) -> bool {
        let Some(real) = self.resolved(path) else { return false };
        let is_no_file = self.paths.get(&real).is_none_or(|before| **before == Before::Repository);
        self.below.contains_key(&real) || (is_no_file && self.disk.is_folder(&real))
    }

    fn content(&self, file: &Path) -> Result<Vec<u8>, String> {
        let real = self.resolved(file).ok_or("a ring of links")?;
        match self.paths.get(&real) {
            Some(Before::File(Some(bytes))) => Ok(bytes.to_vec()),
            Some(Before::File(None)) => Err("its earlier content is not here".to_owned()),
            Some(_) => Err("it was not there".to_owned()),
            None => Disk.content(&real),
        }
    }
}
