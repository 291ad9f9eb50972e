//! Opens a file that was seen to be a regular one, and reads it with as few calls as possible.
//!
//! A link or a pipe that took its place meanwhile is neither followed nor waited for.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{Read as _, Result};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

/// Opens a regular file. The last part of its path must not be a link.
pub fn open_regular(path: &Path) -> Result<(File, Metadata)> {
    let file = OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    Err(std::io::Error::other("it is no longer a regular file"))
}

/// Reads an open file whose size is known; what it grew by meanwhile is read too.
pub fn read_whole(file: &File, size: u64) -> Result<Vec<u8>> {
    // One byte more than the size, so that the end is found without growing the buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // `take` hides the file, which would otherwise be asked for its size again.
    file.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_whole_and_a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        let (path, link) = (dir.path().join("file"), dir.path().join("link"));
        std::fs::write(&path, "content").expect("a file");
        std::os::unix::fs::symlink("file", &link).expect("a link");

        let (file, metadata) = open_regular(&path).expect("a regular file");

        assert_eq!(read_whole(&file, metadata.len()).expect("its content"), b"content");
        assert!(open_regular(&link).is_err() && open_regular(dir.path()).is_err());
    }
}
