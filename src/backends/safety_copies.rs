//! Safety copies: the newest version of each state, kept in the user's own state folder, so that
//! a deleted checkout takes no state with it.
//!
//! One pair of files a lineage below `$XDG_STATE_HOME/infra/copies`: the bytes as they lie in
//! the store, and a record of what they are. The record names the digest of the bytes and is
//! written last, so that a crash leaves the copy of before. Both are readable by this person
//! alone; what is not so, or makes no sense, is no copy. Begin at [`SafetyCopies::keep`].

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::file_lock::lock_file;
use crate::atomic_file;
use crate::error::{Error, Result, io};
use crate::model::{Clock, Copies, Environment, Fingerprint, StackId};
use crate::trust::read_own_file;

/// How long a copy stays after it was last written.
const LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);

/// More than any record has.
const LARGEST_RECORD: u64 = 64 << 10;

/// More than any state that is read back has.
const LARGEST_STATE: u64 = 1 << 30;

/// How much of a digest stands in a name.
const DIGITS: usize = 16;

/// What a name begins with that stands for a lineage which cannot be one.
const HASHED: &str = "hashed-";

/// The safety copies of this person.
#[derive(Clone, Debug)]
pub struct SafetyCopies {
    dir: PathBuf,
    limit: u64,
    clock: Clock,
}

/// What a copy is of.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CopyFacts {
    /// The name of the project, where its `infra.yaml` gives one.
    pub project: Option<String>,
    /// The root of the checkout that wrote it.
    pub root: PathBuf,
    /// The stack.
    pub stack: StackId,
    /// What tells this state from every other.
    pub lineage: String,
    /// The number that tofu counts up with each change.
    pub serial: u64,
    /// When the state was written.
    pub written: Timestamp,
}

/// A copy that is there.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct SafetyCopy {
    /// What it is of; texts that come from a project are shown only in plain sight.
    pub facts: CopyFacts,
    /// Its size in bytes.
    pub size: u64,
    digest: String,
}

/// What became of a state that was to be copied.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Copying {
    /// The copy is there.
    Kept,
    /// The state has more bytes than this, so there is no newer copy than before.
    TooLarge(u64),
    /// Another checkout has written a newer one, which stays.
    NewerThere(SafetyCopy),
}

impl SafetyCopies {
    /// Returns those of this person; `None` if copies are not wanted, or there is no home for them.
    pub fn of(env: &Environment, copies: Copies, clock: Clock) -> Option<Self> {
        match copies {
            Copies::Off => None,
            Copies::UpTo(limit) => Some(Self { dir: env.state_dir()?.join("copies"), limit, clock }),
        }
    }

    /// Returns those in another folder, such as the home of an earlier machine.
    pub fn in_folder(dir: PathBuf, clock: Clock) -> Self {
        Self { dir, limit: LARGEST_STATE, clock }
    }

    /// Keeps the bytes of a state in the place of an earlier copy, and removes the copies that are too old.
    pub fn keep(&self, facts: &CopyFacts, bytes: &[u8]) -> Result<Copying> {
        let size = bytes.len() as u64;
        if size > self.limit.min(LARGEST_STATE) {
            return Ok(Copying::TooLarge(self.limit.min(LARGEST_STATE)));
        }
        let _lock = lock_file(&self.dir.join("turn"))?;
        let before = self.find(&facts.lineage)?;
        let kept = match before.filter(|before| before.is_newer_elsewhere(facts)) {
            Some(newer) => Copying::NewerThere(newer),
            None => {
                self.write(&SafetyCopy { facts: readable(facts), size, digest: digest_of(bytes) }, bytes)?;
                Copying::Kept
            }
        };
        self.prune();
        Ok(kept)
    }

    /// Removes the copy of the state with this lineage.
    pub fn forget(&self, lineage: &str) -> Result<()> {
        let _lock = lock_file(&self.dir.join("turn"))?;
        let record = self.record_path(lineage);
        match std::fs::remove_file(&record) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("remove", &record)(error));
            }
            _ => {}
        }
        self.prune();
        Ok(())
    }

    /// Returns all copies, sorted by project and stack.
    pub fn all(&self) -> Result<Vec<SafetyCopy>> {
        let mut copies: Vec<SafetyCopy> =
            self.entries()?.iter().filter_map(|path| self.record(path)).collect();
        let order = |copy: &SafetyCopy| {
            (copy.facts.project.clone(), copy.facts.stack.clone(), copy.facts.lineage.clone())
        };
        copies.sort_by_key(order);
        Ok(copies)
    }

    /// Returns the copy of the state with this lineage.
    pub fn find(&self, lineage: &str) -> Result<Option<SafetyCopy>> {
        Ok(self.record(&self.record_path(lineage)))
    }

    /// Returns the bytes of a copy, if they are those that were kept.
    pub fn read(&self, copy: &SafetyCopy) -> Result<Zeroizing<Vec<u8>>> {
        let path = self.state_path(copy);
        let bytes = match is_plain_file(&path) {
            true => read_own_file(&path, copy.size.min(LARGEST_STATE))?,
            false => None,
        };
        match bytes {
            Some(bytes) if digest_of(&bytes) == copy.digest => Ok(bytes),
            Some(_) => Err(damaged(copy).detail("its bytes are not those that were kept").at(path.display())),
            None => Err(damaged(copy).detail("its bytes are gone").at(path.display())),
        }
    }

    /// Writes the bytes, then the record by which they count, and removes the bytes of before.
    fn write(&self, copy: &SafetyCopy, bytes: &[u8]) -> Result<()> {
        let record = serde_json::to_vec_pretty(copy)
            .map_err(|error| Error::bug("the record of a copy has no JSON form").because(error))?;
        let state = self.state_path(copy);
        atomic_file::write_flushed(&state, bytes)?;
        atomic_file::write_flushed(&self.record_path(&copy.facts.lineage), &record)?;
        let others = format!("{}.", name_of(&copy.facts.lineage));
        for path in self.entries()?.into_iter().filter(|path| *path != state && is_state(path)) {
            if file_name(&path).starts_with(&others) {
                // One that stays is removed with the next copy.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// Removes what was written too long ago, and bytes whose record is gone; one that stays goes another
    /// time. Bytes beside a record that cannot be read are somebody's state all the same.
    fn prune(&self) {
        let (Ok(entries), now) = (self.entries(), self.clock.now()) else { return };
        let is_old = |copy: &SafetyCopy| now.duration_since(copy.facts.written) > LIFETIME;
        let old = entries.iter().filter(|path| self.record(path).is_some_and(|copy| is_old(&copy)));
        old.for_each(|path| drop(std::fs::remove_file(path)));
        let is_left = |path: &&PathBuf| is_state(path) && !self.record_beside(path);
        entries.iter().filter(is_left).for_each(|path| drop(std::fs::remove_file(path)));
    }

    /// Returns whether bytes have a record, readable or not.
    fn record_beside(&self, state: &Path) -> bool {
        let name = file_name(state);
        let record = self.dir.join(format!("{}.json", name.split('.').next().unwrap_or_default()));
        record.symlink_metadata().is_ok()
    }

    /// Returns what is in the folder.
    fn entries(&self) -> Result<Vec<PathBuf>> {
        match std::fs::read_dir(&self.dir) {
            Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(io("read", &self.dir)(error)),
        }
    }

    /// Returns the copy that a record tells of; `None` if the file is none, or is not where it belongs.
    fn record(&self, path: &Path) -> Option<SafetyCopy> {
        if path.extension().is_none_or(|suffix| suffix != "json") || !is_plain_file(path) {
            return None;
        }
        let bytes = read_own_file(path, LARGEST_RECORD).ok().flatten()?;
        let copy: SafetyCopy = serde_json::from_slice(&bytes).ok()?;
        let is_hex = copy.digest.len() > DIGITS && copy.digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hex && self.record_path(&copy.facts.lineage) == path).then_some(copy)
    }

    fn record_path(&self, lineage: &str) -> PathBuf {
        self.dir.join(format!("{}.json", name_of(lineage)))
    }

    fn state_path(&self, copy: &SafetyCopy) -> PathBuf {
        let digits = copy.digest.get(..DIGITS).unwrap_or_default();
        self.dir.join(format!("{}.{digits}.state", name_of(&copy.facts.lineage)))
    }
}

impl SafetyCopy {
    /// Returns whether this is newer than what another checkout wants to keep.
    fn is_newer_elsewhere(&self, facts: &CopyFacts) -> bool {
        self.facts.root != readable(facts).root && self.facts.serial > facts.serial
    }
}

/// Returns the facts with a root that JSON can hold.
fn readable(facts: &CopyFacts) -> CopyFacts {
    CopyFacts { root: PathBuf::from(facts.root.to_string_lossy().into_owned()), ..facts.clone() }
}

/// Returns the name of the files of a lineage, which is any text: its own where that is safe everywhere.
fn name_of(lineage: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'-';
    let is_safe = (1..=64).contains(&lineage.len())
        && lineage.bytes().all(is_plain)
        && !lineage.starts_with('-')
        && !lineage.starts_with(HASHED);
    match is_safe {
        true => lineage.to_owned(),
        false => format!("{HASHED}{}", Fingerprint::of([lineage.as_bytes()])),
    }
}

fn digest_of(bytes: &[u8]) -> String {
    Fingerprint::of([bytes]).to_string()
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_state(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "state")
}

/// Returns whether it is a file itself, not a link to one.
fn is_plain_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

fn damaged(copy: &SafetyCopy) -> Error {
    Error::unavailable(format!("the safety copy of `{}` cannot be used", copy.facts.stack))
}

#[cfg(test)]
mod tests;
