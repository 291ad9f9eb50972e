//! A state in a file, as tofu's `local` backend keeps it.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use crate::error::{Result, io};

/// Returns what the file holds; an empty one, or none, is no state.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes).filter(|bytes| !bytes.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

/// Writes a file that belongs to its owner alone, whole or not at all, and waits for the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = io("write", path);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(&failed)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(&failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(&failed)
}
