//! The disk, with every folder listed once: the same folders are asked for on both sides.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::stacks::files::{Disk, EntryKind, Tree};

/// The entries of a folder.
type Entries = Arc<Vec<(OsString, EntryKind)>>;

/// The disk as it was when it was first looked at.
#[derive(Debug, Default)]
pub struct Remembered {
    folders: Mutex<HashMap<PathBuf, Entries>>,
    real: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
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
