//! Overwrites every file of a folder with zeros and removes it all.
//!
//! Links are removed and never followed. Goes on after a failure and returns the first.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{Result, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use nix::fcntl::OFlag;

/// Shreds a folder; one that is gone already is no failure.
pub(super) fn shred(dir: &Path) -> Result<()> {
    if !dir.try_exists()? {
        return Ok(());
    }
    let overwritten = overwrite_all(dir);
    std::fs::remove_dir_all(dir).and(overwritten)
}

fn overwrite_all(dir: &Path) -> Result<()> {
    let mut first = Ok(());
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let done = match (kind.is_dir(), kind.is_file()) {
            (true, _) => overwrite_all(&entry.path()),
            (_, true) => overwrite(&entry.path()),
            // Sockets and pipes hold nothing, links belong to others.
            (false, false) => Ok(()),
        };
        first = first.and(done);
    }
    first
}

fn overwrite(path: &Path) -> Result<()> {
    let open = || OpenOptions::new().write(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path);
    let file = open().or_else(|_| {
        // Some editors leave files read-only.
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        open()
    });
    fill_with_zeros(file?)
}

fn fill_with_zeros(mut file: File) -> Result<()> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut left = file.metadata()?.len();
    while left > 0 {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        file.write_all(&ZEROS[..count])?;
        left -= count as u64;
    }
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_overwritten_before_it_is_removed() {
        let (dir, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let folder = dir.path().join("edit");
        std::fs::create_dir_all(folder.join("deep")).expect("a folder");
        std::fs::write(folder.join("deep/a.yaml"), vec![b'x'; 5000]).expect("a file");
        // A second name shows what became of the bytes.
        std::fs::hard_link(folder.join("deep/a.yaml"), outside.path().join("witness")).expect("a link");

        shred(&folder).expect("a folder of our own");

        assert!(!folder.exists());
        assert_eq!(std::fs::read(outside.path().join("witness")).expect("the bytes"), vec![0; 5000]);
    }

    #[test]
    fn links_are_removed_and_never_followed() {
        let (dir, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (folder, target) = (dir.path().join("edit"), outside.path().join("target"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(&target, "stays").expect("a file");
        std::os::unix::fs::symlink(&target, folder.join("file")).expect("a link");
        std::os::unix::fs::symlink(outside.path(), folder.join("folder")).expect("a link");

        shred(&folder).expect("a folder of our own");

        assert!(!folder.exists());
        assert_eq!(std::fs::read_to_string(&target).expect("the target"), "stays");
    }

    #[test]
    fn a_folder_that_is_gone_is_no_failure() {
        let dir = tempfile::tempdir().expect("a folder");

        assert!(shred(&dir.path().join("gone")).is_ok());
    }
}
