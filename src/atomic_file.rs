//! Small files written whole or not at all: a temporary file beside them, then a rename.
//!
//! [`write()`] is for records that can be made again (saved plans, `init`, runs), so nothing is
//! forced to the disk, and files and new folders are closed to others. [`replace`] is for a
//! person's own files: it keeps what they are and waits for the disk. State has its own way.

use std::fs::{File, Metadata, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result, io};

/// Creates a folder and its parents, closed to others.
///
/// Plans and states with secrets in them lie below `.infra`, so one that is made or used on the way
/// is hidden from git before anything else is in it. All code that makes something there calls this function.
pub fn create_private_dir(dir: &Path) -> Result<()> {
    if let Some(infra_dir) = dir.ancestors().find(|part| part.ends_with(".infra")) {
        make_private(infra_dir).map_err(with_way_out)?;
        hide_from_git(infra_dir)?;
    }
    make_private(dir)
}

/// Says what to do where a project is somebody else's, or on a disk that cannot be written.
fn with_way_out(error: Error) -> Error {
    error
        .hint("runs and plans are recorded there: make the folder writable for you, or work in a copy of it")
        .hint("what needs no such folder: `infra validate`, `infra stacks`, `infra fmt --check`")
}

fn make_private(dir: &Path) -> Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io("create", dir))
}

/// Lets git ignore a folder with all that is in it; a file of this name that is there is a person's own.
fn hide_from_git(dir: &Path) -> Result<()> {
    let ignore = dir.join(".gitignore");
    if ignore.symlink_metadata().is_ok() { Ok(()) } else { put(&ignore, dir, b"*\n", Disk::NotAwaited) }
}

/// Writes a file of which readers see the old or the new content, never a part.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_private(path, bytes, Disk::NotAwaited)
}

/// Writes a file like [`write()`], and waits for the disk: it cannot be made again.
pub fn write_flushed(path: &Path, bytes: &[u8]) -> Result<()> {
    write_private(path, bytes, Disk::Awaited)
}

/// Whether a write waits until the disk has it.
#[derive(Clone, Copy)]
enum Disk {
    Awaited,
    NotAwaited,
}

fn write_private(path: &Path, bytes: &[u8], disk: Disk) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_private_dir(dir)?;
    put(path, dir, bytes, disk)
}

fn put(path: &Path, dir: &Path, bytes: &[u8], disk: Disk) -> Result<()> {
    let failed = io("write", path);
    let mut file = NamedTempFile::new_in(dir).map_err(&failed)?;
    file.write_all(bytes).map_err(&failed)?;
    match disk {
        Disk::NotAwaited => file.persist(path).map(drop).map_err(|error| failed(error.error)),
        Disk::Awaited => {
            file.as_file().sync_all().map_err(&failed)?;
            file.persist(path).map_err(|error| failed(error.error))?;
            // The new name is the folder's, and reaches the disk with it.
            File::open(dir).and_then(|dir| dir.sync_all()).map_err(&failed)
        }
    }
}

/// Lets its owner, and nobody else, run a file.
pub fn make_executable(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(io("write", path))
}

/// Replaces the content of a file; its mode stays, its owner where the system allows it, and a link
/// still leads to it. A file that is new gets the mode that new files have.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = io("write", path);
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = std::fs::metadata(&target).ok();
    let mut file = empty_beside(&target, before.as_ref()).map_err(&failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Writes a file like [`write_flushed`], unless there is one: of two processes that write it at the same
/// time the first one wins.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    create_private_dir(dir)?;
    let failed = io("write", path);
    let mut file = NamedTempFile::new_in(dir).map_err(&failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(&failed)?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(failed(error.error)),
        _ => Ok(()),
    }
}

/// Makes an empty file beside another that will take its place.
fn empty_beside(target: &Path, before: Option<&Metadata>) -> std::io::Result<NamedTempFile> {
    let dir = target.parent().unwrap_or(Path::new("."));
    let Some(before) = before else {
        return tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(dir);
    };
    let file = NamedTempFile::new_in(dir)?;
    // Only root may give files away; for other users the file belongs to the one who writes.
    let _ = std::os::unix::fs::fchown(file.as_file(), Some(before.uid()), Some(before.gid()));
    file.as_file().set_permissions(Permissions::from_mode(before.mode() & 0o7777))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_keeps_its_mode_and_the_link_that_leads_to_it() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (path, link) = (dir.path().join("real"), dir.path().join("link"));
        std::fs::write(&path, "old").expect("a file");
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("a mode");
        std::os::unix::fs::symlink("real", &link).expect("a link");

        replace(&link, b"new").expect("a writable folder");

        assert_eq!(std::fs::read(&path).expect("the file"), b"new");
        assert_eq!(std::fs::metadata(&path).expect("the file").mode() & 0o7777, 0o640);
        assert!(std::fs::symlink_metadata(&link).expect("the link").is_symlink());
        assert_eq!(std::fs::read_dir(dir.path()).expect("the folder").count(), 2);
    }

    #[test]
    fn a_new_file_never_takes_the_place_of_another() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a/key");

        write_new(&path, b"first").expect("a writable folder");
        write_new(&path, b"second").expect("a writable folder");

        assert_eq!(std::fs::read(&path).expect("the file"), b"first");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).expect("the folder").count(), 1);
    }

    #[test]
    fn a_file_that_was_not_there_is_made() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("new");

        replace(&path, b"text").expect("a writable folder");

        assert_eq!(std::fs::read(&path).expect("the file"), b"text");
        assert_eq!(std::fs::metadata(&path).expect("the file").mode() & 0o600, 0o600);
    }

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
    fn a_folder_for_what_is_kept_hides_itself_from_git_unless_a_person_says_otherwise() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let ignore = dir.path().join(".infra/.gitignore");

        create_private_dir(&dir.path().join(".infra/a/b")).expect("a writable folder");
        assert_eq!(std::fs::read(&ignore).expect("the file"), b"*\n");
        assert_eq!(std::fs::metadata(dir.path().join(".infra")).expect("it").mode() & 0o777, 0o700);

        std::fs::write(&ignore, "plans").expect("a file");
        write(&dir.path().join(".infra/c"), b"text").expect("a writable folder");
        assert_eq!(std::fs::read(&ignore).expect("the file"), b"plans");
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
