//! The disk, with every folder listed once: the same folders are asked for on both sides.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::without_dots;
use crate::stacks::files::{Disk, EntryKind, Tree};

/// The entries of a folder.
type Entries = Arc<Vec<(OsString, EntryKind)>>;

/// The disk as it was when it was first looked at.
#[derive(Debug, Default)]
pub struct Remembered {
    folders: Mutex<HashMap<PathBuf, Entries>>,
    real: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl Remembered {
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

impl Tree for Remembered {
    fn entries(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
        let known = || self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entries) = known().get(folder) {
            return Ok(entries.to_vec());
        }
        let entries = Arc::new(Disk.entries(folder)?);
        known().insert(folder.to_owned(), Arc::clone(&entries));
        Ok(entries.to_vec())
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
