//! Whose folder it is, and what lies in it.
//!
//! The folder's name tells the process, so that a rename takes it over at once; the record tells
//! the original. Neither holds plaintext.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, io};
use crate::model::{Fingerprint, hex};
use crate::process::{hostname, is_alive, random_bytes, started_at, this_process};

/// How the folders are called, before process, start and chance.
const PREFIX: &str = "infra-edit-";

/// The record's name in its folder.
const FILE: &str = "record.json";

/// What is known of an edit.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Record {
    /// The encrypted file, absolute.
    pub original: PathBuf,
    /// Its bytes when the edit began.
    sealed: Fingerprint,
    host: String,
}

impl Record {
    pub fn new(original: &Path, sealed: &[u8]) -> Result<Self> {
        let original = std::path::absolute(original).map_err(io("find", original))?;
        Ok(Self { original, sealed: Fingerprint::of([sealed]), host: hostname() })
    }

    /// Reads the record of a folder, if it has one.
    pub fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(dir.join(FILE)).ok()?).ok()
    }

    pub fn write(&self, dir: &Path) -> Result<()> {
        let named = |error| Error::invalid("the name of the edited file is no text").because(error);
        super::new_file(&dir.join(FILE), &serde_json::to_vec(self).map_err(named)?)
    }

    /// Returns the name for the plaintext: the original's, since editors go by it.
    pub fn file_name(&self) -> &Path {
        self.original.file_name().map_or(Path::new("secrets"), Path::new)
    }

    pub fn is_of(&self, sealed: &[u8]) -> bool {
        self.sealed == Fingerprint::of([sealed])
    }

    pub fn is_of_this_host(&self) -> bool {
        self.host == hostname()
    }
}

/// Returns a new name for a folder of this process.
pub(super) fn dir_name() -> Result<String> {
    let chance = random_bytes::<8>()?;
    let pid = this_process();
    Ok(format!("{PREFIX}{pid}-{}-{}", started_at(pid).unwrap_or(0), hex(&chance)))
}

/// Returns whether a name is one of ours and its process is gone.
pub(super) fn is_abandoned(name: &str) -> bool {
    let mut parts = name.strip_prefix(PREFIX).unwrap_or_default().split('-');
    let (Some(pid), Some(started), Some(_)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let (Ok(pid), Ok(started)) = (pid.parse(), started.parse()) else { return false };
    !is_alive(pid, Some(started).filter(|ticks| *ticks > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whether_its_process_lives() {
        let own = dir_name().expect("a name");

        assert!(!is_abandoned(&own));
        assert!(is_abandoned(&format!("{PREFIX}{}-1-00", this_process())));
        assert!(is_abandoned(&format!("{PREFIX}{}-0-00", i32::MAX)));
    }

    #[test]
    fn names_that_are_not_ours_are_left_alone() {
        for name in ["", "infra-edit-", "infra-edit-1", "infra-edit-x-1-0", "other-1-1-0", "infra-edit-1-x-0"]
        {
            assert!(!is_abandoned(name), "{name}");
        }
    }
}
