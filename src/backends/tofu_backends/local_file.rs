//! A state in a file, as tofu's `local` backend keeps it.

use std::path::Path;

use crate::atomic_file;
use crate::error::{Result, io};

/// Returns what the file holds; an empty one, or none, is no state.
pub fn read_state_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

/// Writes a file that belongs to its owner alone, whole or not at all, and waits for the disk.
pub fn write_state_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(io("write", path))?;
    atomic_file::write_flushed(path, bytes)
}
