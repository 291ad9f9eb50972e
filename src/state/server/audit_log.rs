//! The audit log: who did what to which state when, one JSON object a line.
//!
//! Never holds a password or a state. Where the lines go is decided by whoever starts the
//! server, who also says so when they cannot be written; the request is served all the same.
//! An [`AuditFile`] is kept open, and made anew where somebody has moved or removed it.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::Serialize;

/// Where audit lines go.
pub type AuditSink = Box<dyn Fn(&str) -> std::io::Result<()> + Send + Sync>;

/// The log of a server.
#[derive(Default)]
pub(super) struct AuditLog(Option<AuditSink>);

/// One line.
#[derive(Debug, Serialize)]
pub(super) struct AuditEntry<'a> {
    pub time: Timestamp,
    pub peer: IpAddr,
    pub user: Option<&'a str>,
    pub action: &'a str,
    pub state: Option<&'a str>,
    pub lock_id: Option<&'a str>,
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The old version that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl AuditLog {
    /// Makes a log of a sink.
    pub fn to(sink: AuditSink) -> Self {
        Self(Some(sink))
    }

    /// Writes a line.
    pub fn write(&self, entry: &AuditEntry<'_>) -> std::io::Result<()> {
        let Some(sink) = &self.0 else { return Ok(()) };
        sink(&serde_json::to_string(entry)?)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuditLog").field(&self.0.is_some()).finish()
    }
}

/// A file that lines are added to.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    /// The file, and which one it is.
    open: Mutex<(File, FileId)>,
}

/// The device and the number of a file.
type FileId = (u64, u64);

impl AuditFile {
    /// Opens a file, which is made if it is missing and belongs to its owner alone.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self { path: path.to_owned(), open: Mutex::new(open(path)?) })
    }

    /// Adds a line.
    pub fn add(&self, line: &str) -> std::io::Result<()> {
        let mut kept = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if std::fs::metadata(&self.path).map(id_of).ok() != Some(kept.1) {
            *kept = open(&self.path)?;
        }
        kept.0.write_all(format!("{line}\n").as_bytes())
    }
}

fn open(path: &Path) -> std::io::Result<(File, FileId)> {
    let file = File::options().create(true).append(true).mode(0o600).open(path)?;
    let id = id_of(file.metadata()?);
    Ok((file, id))
}

fn id_of(facts: Metadata) -> FileId {
    (facts.dev(), facts.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_to_a_new_file_once_the_old_one_is_moved_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, old) = (folder.path().join("audit"), folder.path().join("audit.1"));
        let log = AuditFile::open(&path).expect("a file");

        log.add("one").expect("a line");
        std::fs::rename(&path, &old).expect("a rotation");
        log.add("two").expect("a line");
        std::fs::remove_file(&path).expect("a removal");
        log.add("three").expect("a line");

        let text = |path| std::fs::read_to_string(path).expect("a log");
        assert_eq!((text(&old), text(&path)), ("one\n".to_owned(), "three\n".to_owned()));
    }
}
