//! Small files written whole or not at all: a temporary neighbour, then a rename.
//!
//! For records that can be made again (saved plans, `init`, runs), so nothing is forced
//! to the disk; state has its own, durable way. Files and new folders are closed to others.

use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::error::{Result, io};

/// Creates a folder and its parents, closed to others.
pub fn create_private_dir(dir: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io("create", dir))
}

/// Writes a file of which readers see the old or the new content, never a part.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_private_dir(dir)?;
    let failed = io("write", path);
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(&failed)?;
    file.write_all(bytes).map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a/b.json");

        write(&path, b"old").expect("a writable folder");
        write(&path, b"new").expect("a writable folder");

        assert_eq!(std::fs::read(&path).expect("the file"), b"new");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).expect("the folder").count(), 1);
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_that_names_the_path() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("x");
        std::fs::create_dir(&path).expect("a folder");

        let error = write(&path, b"text").expect_err("a folder cannot be replaced");

        assert!(error.message().contains("cannot write") && error.message().contains("/x"), "{error}");
    }
}
