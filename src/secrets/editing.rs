//! The one place where plaintext becomes a file: a folder in memory for an editor to work in.
//!
//! A 0700 folder on tmpfs holds a 0600 file with the name of the original, so that editors know
//! its kind; whatever lies in the folder is overwritten and removed on drop. Memory may still be
//! swapped out, and a file that an editor replaced rather than wrote is freed without being
//! overwritten. Folders whose process died can be found, resumed or discarded. Starts no editor
//! and asks nobody. Begin at [`EditFolder::create`] and [`left_over`].

mod place;
mod record;
mod shred;

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use self::record::Record;
use self::shred::shred;
pub use place::EditPlace;
use zeroize::Zeroizing;

use crate::error::{Result, io};
use crate::model::Environment;

/// The folder inside in which the editor works; beside it lies the record.
const TEXT_FOLDER: &str = "text";

/// A folder with plaintext in it, shredded on drop.
#[derive(Debug)]
pub struct EditFolder {
    dir: PathBuf,
    record: Record,
    on_drop: OnDrop,
}

/// What becomes of a folder at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Shred,
    Keep,
}

/// A folder whose process is gone.
#[derive(Debug)]
pub struct LeftOver {
    dir: PathBuf,
    record: Record,
}

impl EditFolder {
    /// Writes plaintext for an editor; `sealed` are the encrypted bytes that it belongs to.
    pub fn create(place: &EditPlace, original: &Path, sealed: &[u8], plaintext: &[u8]) -> Result<Self> {
        let record = Record::new(original, sealed)?;
        let dir = place.base().join(record::dir_name()?);
        new_dir(&dir)?;
        // From here on a failure drops the folder, and that shreds it.
        let folder = Self { dir, record, on_drop: OnDrop::Shred };
        folder.record.write(&folder.dir)?;
        new_dir(&folder.dir.join(TEXT_FOLDER))?;
        new_file(&folder.path(), plaintext)?;
        Ok(folder)
    }

    /// Returns the file to edit.
    pub fn path(&self) -> PathBuf {
        self.dir.join(TEXT_FOLDER).join(self.record.file_name())
    }

    /// Returns the encrypted file that this is the plaintext of.
    pub fn original(&self) -> &Path {
        &self.record.original
    }

    /// Returns whether these are still the encrypted bytes that the edit began with.
    pub fn began_with(&self, sealed: &[u8]) -> bool {
        self.record.is_of(sealed)
    }

    /// Reads what the editor left.
    pub fn read(&self) -> Result<Zeroizing<Vec<u8>>> {
        let path = self.path();
        std::fs::read(&path).map(Zeroizing::new).map_err(io("read the edited", &path))
    }

    /// Leaves the folder as it is, to be resumed by a later process; returns where it is.
    pub fn keep(mut self) -> PathBuf {
        self.on_drop = OnDrop::Keep;
        self.dir.clone()
    }

    /// Shreds the folder now and tells what went wrong, which a drop cannot.
    pub fn discard(mut self) -> Result<()> {
        self.on_drop = OnDrop::Keep;
        shred(&self.dir).map_err(io("shred", &self.dir))
    }
}

impl Drop for EditFolder {
    fn drop(&mut self) {
        if self.on_drop == OnDrop::Shred {
            // No one can be told at this point; what stays is found by `left_over`.
            let _ = shred(&self.dir);
        }
    }
}

/// Returns the folders of this user's dead processes, the oldest first.
///
/// Folders of living processes and of other hosts are left out.
pub fn left_over(env: &Environment) -> Vec<LeftOver> {
    left_over_in(place::candidates(env))
}

fn left_over_in(bases: Vec<PathBuf>) -> Vec<LeftOver> {
    let entries = bases.into_iter().filter_map(|base| std::fs::read_dir(base).ok()).flatten().flatten();
    let mut found: Vec<_> = entries.filter_map(|entry| LeftOver::at(entry.path())).collect();
    found.sort_by_key(|(changed, _)| *changed);
    found.into_iter().map(|(_, left_over)| left_over).collect()
}

impl LeftOver {
    /// Looks at a folder; others may write where it lies, so only real folders of our own count.
    fn at(dir: PathBuf) -> Option<((i64, i64), Self)> {
        if !record::is_abandoned(&dir.file_name()?.to_string_lossy()) {
            return None;
        }
        let found = std::fs::symlink_metadata(&dir).ok()?;
        let own = found.uid() == nix::unistd::geteuid().as_raw() && found.mode() & 0o077 == 0;
        let record = Record::read(&dir).filter(|record| own && found.is_dir() && record.is_of_this_host())?;
        Some(((found.mtime(), found.mtime_nsec()), Self { dir, record }))
    }

    /// Returns the encrypted file that was being edited.
    pub fn original(&self) -> &Path {
        &self.record.original
    }

    /// Returns the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Takes the folder over; of several processes that try, one succeeds.
    pub fn resume(self) -> Result<EditFolder> {
        let dir = self.claim()?;
        Ok(EditFolder { dir, record: self.record, on_drop: OnDrop::Shred })
    }

    /// Shreds the folder.
    pub fn discard(self) -> Result<()> {
        self.resume()?.discard()
    }

    /// Renames the folder to a name of this process, which only the first can.
    fn claim(&self) -> Result<PathBuf> {
        let dir = self.dir.with_file_name(record::dir_name()?);
        std::fs::rename(&self.dir, &dir).map_err(io("take over", &self.dir))?;
        Ok(dir)
    }
}

/// Makes a folder that must not be there yet.
fn new_dir(dir: &Path) -> Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(dir).map_err(io("create", dir))
}

/// Makes a file that must not be there yet.
fn new_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = io("write", path);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(bytes)).map_err(failed)
}

#[cfg(test)]
mod tests;
