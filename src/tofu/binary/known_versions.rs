//! Remembers which version a binary is, so that a warm run starts no process to ask.
//!
//! A memory in `binaries.json` below the cache folder, keyed by path, size, time and
//! inode: a binary that was replaced is asked again. Losing the file costs one question
//! for each binary; nothing here can fail a run. Begin at [`KnownVersions::recall`].

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::error::{Error, Result};
use crate::model::Environment;
use crate::tofu::version::{Flavour, Identity};

/// Below this size a file is a launcher (tofuenv, tenv, a script), whose answer depends on the folder.
const SMALLEST_BINARY: u64 = 16 * 1024 * 1024;

/// The memory of versions; without a cache folder it remembers nothing.
#[derive(Debug)]
pub struct KnownVersions {
    file: Option<PathBuf>,
}

/// What is remembered of one file.
#[derive(Debug, Deserialize, Serialize)]
struct KnownBinary {
    size: u64,
    modified: (i64, i64),
    inode: u64,
    flavour: Flavour,
    version: String,
}

impl KnownBinary {
    fn new(metadata: &Metadata, identity: &Identity) -> Self {
        let (flavour, version) = (identity.flavour, identity.version.to_string());
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Self { size: metadata.len(), modified, inode: metadata.ino(), flavour, version }
    }

    fn identity(&self, metadata: &Metadata) -> Option<Identity> {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let same = (self.size, self.modified, self.inode) == (metadata.len(), modified, metadata.ino());
        let version = Version::parse(&self.version).ok().filter(|_| same)?;
        Some(Identity { flavour: self.flavour, version })
    }
}

impl KnownVersions {
    /// Opens the memory of this environment.
    pub fn of(env: &Environment) -> Self {
        Self { file: env.cache_dir().map(|dir| dir.join("binaries.json")) }
    }

    /// Returns what a file was when it was last asked, if it did not change since.
    pub fn recall(&self, path: &Path) -> Option<Identity> {
        let (name, metadata) = key(path)?;
        self.load().get(&name)?.identity(&metadata)
    }

    /// Remembers what a file is, unless it is a launcher.
    pub fn remember(&self, path: &Path, identity: &Identity) {
        if !is_launcher(path) {
            self.remember_always(path, identity);
        }
    }

    /// Remembers what a file is that this program itself put there.
    pub fn remember_always(&self, path: &Path, identity: &Identity) {
        let Some((name, metadata)) = key(path) else { return };
        let mut entries = self.load();
        entries.retain(|known, _| Path::new(known).exists());
        entries.insert(name, KnownBinary::new(&metadata, identity));
        // A memory that cannot be written costs time and nothing else.
        let _ = self.store(&entries);
    }

    /// Reads the file; one that is missing or damaged is an empty memory.
    fn load(&self) -> BTreeMap<String, KnownBinary> {
        let bytes = self.file.as_ref().and_then(|file| std::fs::read(file).ok());
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Writes the file whole or not at all: other runs read it meanwhile.
    fn store(&self, entries: &BTreeMap<String, KnownBinary>) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let text = serde_json::to_vec(entries)
            .map_err(|error| Error::bug("the known versions have no JSON form").because(error))?;
        atomic_file::write(file, &text)
    }
}

/// Returns the true path as text, and the facts about the file.
fn key(path: &Path) -> Option<(String, Metadata)> {
    let canonical = path.canonicalize().ok()?;
    let metadata = canonical.metadata().ok()?;
    Some((canonical.to_str()?.to_owned(), metadata))
}

/// Returns whether a file only starts the real program, as version managers do.
fn is_launcher(path: &Path) -> bool {
    let Some((canonical, metadata)) = key(path) else { return true };
    let name = canonical.rsplit('/').next().unwrap_or_default();
    // Some managers link `tofu` to one program that serves many names.
    let own_name = name.contains("tofu") || name.contains("terraform");
    !own_name || metadata.len() < SMALLEST_BINARY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { flavour: Flavour::OpenTofu, version: Version::new(1, 12, 6) }
    }

    /// Makes a file that is as large as a real binary and takes no space.
    fn binary(folder: &Path, name: &str, size: u64) -> PathBuf {
        let path = folder.join(name);
        std::fs::File::create(&path)
            .and_then(|file| file.set_len(size))
            .expect("a file in a temporary folder");
        path
    }

    fn known_in(folder: &Path) -> KnownVersions {
        KnownVersions::of(&Environment::default().with("XDG_CACHE_HOME", folder.join("cache")))
    }

    #[test]
    fn a_binary_is_known_until_it_changes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (known, tofu) = (known_in(folder.path()), binary(folder.path(), "tofu", SMALLEST_BINARY));

        known.remember(&tofu, &identity());

        assert_eq!(known.recall(&tofu), Some(identity()));
        binary(folder.path(), "tofu", SMALLEST_BINARY + 1);
        assert_eq!(known.recall(&tofu), None);
    }

    #[test]
    fn a_replaced_binary_of_the_same_size_is_not_known() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (known, tofu) = (known_in(folder.path()), binary(folder.path(), "tofu", SMALLEST_BINARY));
        known.remember(&tofu, &identity());

        let other = binary(folder.path(), "other", SMALLEST_BINARY);
        std::fs::rename(other, &tofu).expect("the same folder");

        assert_eq!(known.recall(&tofu), None);
    }

    #[test]
    fn a_launcher_is_asked_every_time() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let known = known_in(folder.path());
        let small = binary(folder.path(), "tofu", 200);
        let many_names = binary(folder.path(), "mise", SMALLEST_BINARY);

        known.remember(&small, &identity());
        known.remember(&many_names, &identity());

        assert_eq!((known.recall(&small), known.recall(&many_names)), (None, None));
    }

    #[test]
    fn a_damaged_memory_is_an_empty_one_and_heals() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (known, tofu) = (known_in(folder.path()), binary(folder.path(), "tofu", SMALLEST_BINARY));
        known.remember(&tofu, &identity());

        std::fs::write(folder.path().join("cache/infra/binaries.json"), "{\"half")
            .expect("the memory's file");

        assert_eq!(known.recall(&tofu), None);
        known.remember(&tofu, &identity());
        assert_eq!(known.recall(&tofu), Some(identity()));
    }

    #[test]
    fn binaries_that_are_gone_are_forgotten() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let known = known_in(folder.path());
        let old = binary(folder.path(), "tofu-old", SMALLEST_BINARY);
        known.remember(&old, &identity());

        std::fs::remove_file(old).expect("it is there");
        known.remember(&binary(folder.path(), "tofu", SMALLEST_BINARY), &identity());

        assert_eq!(known.load().len(), 1);
    }
}
