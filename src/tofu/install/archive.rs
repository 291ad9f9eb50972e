//! Takes the one file `tofu` out of a release archive.
//!
//! Nothing else of an archive is written, so links and paths that climb have no effect.
//! Begin at [`extract`].

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use tar::Archive;

use super::place::BINARY;
use crate::error::{Error, Result, io};

/// More than a real tofu is; a small archive could otherwise fill the disk.
const LARGEST_BINARY: u64 = 1024 * 1024 * 1024;

/// Writes the `tofu` of an archive to a new file.
pub(super) async fn extract(archive: PathBuf, target: PathBuf) -> Result<()> {
    let work = tokio::task::spawn_blocking(move || extract_now(&archive, &target));
    work.await.map_err(|e| Error::bug("unpacking ended early").because(e))?
}

fn extract_now(archive: &Path, target: &Path) -> Result<()> {
    let damaged = |error| Error::unavailable("the archive of OpenTofu cannot be unpacked").because(error);
    let file = File::open(archive).map_err(io("read", archive))?;
    let mut archive = Archive::new(GzDecoder::new(std::io::BufReader::new(file)));
    for entry in archive.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        let is_tofu =
            entry.path().is_ok_and(|path| path.strip_prefix(".").unwrap_or(&path) == Path::new(BINARY));
        if is_tofu && entry.header().entry_type().is_file() {
            return write(entry, target);
        }
    }
    Err(Error::unavailable("the archive of OpenTofu holds no file `tofu`"))
}

fn write(entry: impl Read, target: &Path) -> Result<()> {
    let mut file = File::create_new(target).map_err(io("create", target))?;
    let copied = copy(entry.take(LARGEST_BINARY + 1), &mut file, target)?;
    if copied > LARGEST_BINARY {
        return Err(Error::unavailable(format!(
            "the `tofu` in the archive is larger than {LARGEST_BINARY} bytes"
        )));
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    file.set_permissions(mode).and_then(|()| file.sync_all()).map_err(io("write", target))
}

/// Copies to the end and tells a bad archive from a full disk.
fn copy(mut from: impl Read, to: &mut File, target: &Path) -> Result<u64> {
    let (mut buffer, mut copied) = (vec![0; 256 * 1024], 0);
    loop {
        let damaged = |error| Error::unavailable("the archive of OpenTofu cannot be unpacked").because(error);
        let count = from.read(&mut buffer).map_err(damaged)?;
        if count == 0 {
            return Ok(copied);
        }
        to.write_all(&buffer[..count]).map_err(io("write", target))?;
        copied += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, EntryType, Header};

    /// Packs members of a type and a name into an archive in the folder.
    fn pack(folder: &Path, members: &[(EntryType, &str, &str)]) -> PathBuf {
        let path = folder.join("archive.tar.gz");
        let file = File::create(&path).expect("a temporary folder");
        let mut builder = Builder::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast()));
        for (kind, name, content) in members {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            let data = if kind.is_file() { content.as_bytes() } else { b"" };
            header.set_size(data.len() as u64);
            if !kind.is_file() {
                header.set_link_name(content).expect("a short name");
            }
            // Set as bytes, because the builder refuses the paths that an attacker would write.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, data).expect("memory");
        }
        builder.into_inner().and_then(flate2::write::GzEncoder::finish).expect("the disk has room");
        path
    }

    #[test]
    fn only_the_file_tofu_is_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let members = [
            (EntryType::Regular, "../tofu", "climbs"),
            (EntryType::Regular, "LICENSE", "text"),
            (EntryType::Regular, "./tofu", "binary"),
        ];
        let archive = pack(folder.path(), &members);
        let target = folder.path().join("out");

        extract_now(&archive, &target).expect("it holds a tofu");

        assert_eq!(std::fs::read_to_string(&target).expect("it was written"), "binary");
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 2);
    }

    #[test]
    fn a_link_named_tofu_is_no_tofu() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let archive = pack(folder.path(), &[(EntryType::Symlink, "tofu", "/bin/sh")]);

        let error = extract_now(&archive, &folder.path().join("out")).expect_err("a link is not followed");

        assert!(error.message().contains("holds no file `tofu`"), "{error}");
    }

    #[test]
    fn a_cut_archive_is_said_to_be_damaged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let archive = pack(folder.path(), &[(EntryType::Regular, "tofu", &"x".repeat(9000))]);
        let bytes = std::fs::read(&archive).expect("it was written");
        std::fs::write(&archive, &bytes[..bytes.len() / 2]).expect("its own file");

        let error = extract_now(&archive, &folder.path().join("out")).expect_err("half is missing");

        assert!(error.message().contains("cannot be unpacked"), "{error}");
    }
}
