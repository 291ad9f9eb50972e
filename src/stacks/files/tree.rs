//! Where folders and files are looked at: on the disk, or as they were before. Begin at [`Tree`].

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::libc::O_NONBLOCK;

/// A tree of files, in which paths are absolute.
pub trait Tree: Sync {
    /// Returns the entries of a folder.
    fn entries(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>>;

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

/// How much room is made for a file before it is read.
const LARGE: usize = 1 << 20;

/// The disk as it is.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Tree for Disk {
    fn entries(&self, folder: &Path) -> io::Result<Vec<(OsString, EntryKind)>> {
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
        let refused = |error: io::Error| unreadable(file, &error);
        // A pipe or a device would block or never end.
        let options = fs::File::options().read(true).custom_flags(O_NONBLOCK).clone();
        let mut opened = match options.open(file) {
            // A socket cannot be opened at all.
            Err(_) if fs::metadata(file).is_ok_and(|found| !found.is_file()) => {
                return Err(NO_FILE.to_owned());
            }
            opened => opened.map_err(refused)?,
        };
        let found = opened.metadata().map_err(refused)?;
        if !found.is_file() {
            return Err(NO_FILE.to_owned());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default().min(LARGE) + 1);
        opened.read_to_end(&mut bytes).map_err(refused)?;
        Ok(bytes)
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    match fs::read_link(path) {
        Ok(target) => format!("link to `{}` leads nowhere: {error}", target.display()),
        Err(_) => format!("cannot be read: {error}"),
    }
}
