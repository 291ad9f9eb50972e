//! The disk, with every folder listed once: the same folders are asked for on both sides.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::without_dots;
use crate::stacks::files::{Disk, Entries, EntryKind, Tree};

/// The disk as it was when it was first looked at.
#[derive(Debug, Default)]
pub struct Remembered {
    folders: Mutex<HashMap<PathBuf, Entries>>,
    real: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl Remembered {
    /// Returns every link in the folders that were listed, and in those below them that a search passes over.
    pub fn links(&self) -> Vec<PathBuf> {
        let known = || self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut links, mut unseen) = (Vec::new(), Vec::new());
        for (folder, entries) in known().iter() {
            unseen.extend(Self::look_at(folder, entries, &mut links));
        }
        unseen.retain(|folder| !known().contains_key(folder));
        while let Some(folder) = unseen.pop() {
            if let Ok(entries) = self.entries(&folder) {
                unseen.extend(Self::look_at(&folder, &entries, &mut links));
            }
        }
        links
    }

    /// Notes the links of a folder, and returns the folders below it.
    fn look_at(folder: &Path, entries: &Entries, links: &mut Vec<PathBuf>) -> Vec<PathBuf> {
        let mut below = Vec::new();
        for (name, kind) in entries.iter() {
            match kind {
                EntryKind::Link => links.push(folder.join(name)),
                EntryKind::Folder if !is_hidden_or_packages(name) => below.push(folder.join(name)),
                EntryKind::Folder | EntryKind::Other => {}
            }
        }
        below
    }

    /// Returns a path without the dots that follow a folder which was listed, and so is no link: the
    /// modules that many stacks use have one name then, and are looked up once.
    fn without_dots(&self, path: &Path) -> Option<PathBuf> {
        let is_up = |part: &Component<'_>| matches!(part, Component::ParentDir | Component::CurDir);
        let folder: PathBuf = path.components().take_while(|part| !is_up(part)).collect();
        let rest: PathBuf = path.components().skip_while(|part| !is_up(part)).collect();
        let down: Vec<Component<'_>> = rest.components().skip_while(is_up).collect();
        let is_listed = || self.folders.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&folder);
        if rest.as_os_str().is_empty() || down.iter().any(is_up) || !is_listed() {
            return None;
        }
        Some(without_dots(path))
    }
}

/// Returns whether a folder belongs to nobody, or to a tool that fills it with links.
fn is_hidden_or_packages(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "node_modules"
}

impl Tree for Remembered {
    fn entries(&self, folder: &Path) -> io::Result<Entries> {
        let known = || self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = known().get(folder) {
            return Ok(Arc::clone(entries));
        }
        let entries = Disk.entries(folder)?;
        known().insert(folder.to_owned(), Arc::clone(&entries));
        Ok(entries)
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        Disk.link(path)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let known = || self.real.lock().unwrap_or_else(PoisonError::into_inner);
        let plain = self.without_dots(path);
        let path = plain.as_deref().unwrap_or(path);
        if let Some(real) = known().get(path) {
            return real.clone();
        }
        let real = Disk.real(path);
        known().insert(path.to_owned(), real.clone());
        real
    }

    fn is_folder(&self, path: &Path) -> bool {
        let is_listed = self.folders.lock().unwrap_or_else(PoisonError::into_inner).contains_key(path);
        is_listed || Disk.is_folder(path)
    }

    fn content(&self, file: &Path) -> Result<Vec<u8>, String> {
        Disk.content(file)
    }
}
