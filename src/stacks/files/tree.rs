//! Where folders and files are looked at: on the disk, or as they were before. Begin at [`Tree`].

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::libc::O_NONBLOCK;

/// The names in a folder and what they are.
pub type Entries = Arc<[(OsString, EntryKind)]>;

/// A tree of files, in which paths are absolute.
pub trait Tree: Sync {
    /// Returns the entries of a folder.
    fn entries(&self, folder: &Path) -> io::Result<Entries>;

    /// Returns what a link says, where there is one at a path.
    fn link(&self, path: &Path) -> Option<PathBuf>;

    /// Returns a path with its links followed, if something is there.
    fn real(&self, path: &Path) -> Option<PathBuf>;

    /// Returns whether a folder is at a path, or a link to one.
    fn is_folder(&self, path: &Path) -> bool;

    /// Returns what is in a file, or why that is nothing.
    fn content(&self, file: &Path) -> Result<Vec<u8>, String>;
}

/// What an entry of a folder says that it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A link to anything.
    Link,
    /// A file, or what only looks like one.
    Other,
}

impl EntryKind {
    /// Returns what the disk calls it.
    pub fn of(kind: FileType) -> Self {
        match (kind.is_dir(), kind.is_symlink()) {
            (true, _) => Self::Folder,
            (_, true) => Self::Link,
            _ => Self::Other,
        }
    }
}

/// What is said of a pipe, a device or a folder.
const NO_FILE: &str = "not a regular file";

/// How much of a file is read at once.
const SMALL: usize = 4 << 10;

/// The disk as it is.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Tree for Disk {
    fn entries(&self, folder: &Path) -> io::Result<Entries> {
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((entry.file_name(), EntryKind::of(entry.file_type()?)))
        };
        fs::read_dir(folder)?.map(entry).collect()
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        fs::read_link(path).ok()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn content(&self, file: &Path) -> Result<Vec<u8>, String> {
        let refused = |error: io::Error| match fs::metadata(file) {
            // A socket cannot be opened, a folder cannot be read.
            Ok(found) if !found.is_file() => NO_FILE.to_owned(),
            _ => unreadable(file, &error),
        };
        // A pipe would block.
        let mut opened =
            fs::File::options().read(true).custom_flags(O_NONBLOCK).open(file).map_err(refused)?;
        let mut bytes = vec![0; SMALL];
        let read = opened.read(&mut bytes).map_err(refused)?;
        bytes.truncate(read);
        // Most files are small, and this was all of them. Others may be none: a pipe is empty, a device endless.
        if read == 0 || read == SMALL {
            if !opened.metadata().map_err(refused)?.is_file() {
                return Err(NO_FILE.to_owned());
            }
            opened.read_to_end(&mut bytes).map_err(refused)?;
        }
        Ok(bytes)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    match fs::read_link(path) {
        Ok(target) => format!("link to `{}` leads nowhere: {error}", target.display()),
        Err(_) => format!("cannot be read: {error}"),
    }
}
