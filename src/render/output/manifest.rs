//! What `configure` has written: for each file the digest of its content and the template that
//! it was made from, and what all of it was made from.
//!
//! It tells a generated file from one that a person edited, and what is no longer rendered.
//! While files are replaced it holds the old and the new digest of each, so that a run that
//! was killed in between leaves nothing that looks like a person's edit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result, io};
use crate::model::hex;
use crate::render::sources::Inputs;

const VERSION: u32 = 1;

/// The files that `configure` has written, by their path below the root.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Manifest {
    version: u32,
    files: BTreeMap<String, Vec<String>>,
    /// What each file was made from, as an error would name it; earlier versions did not note it.
    #[serde(default)]
    origins: BTreeMap<String, String>,
    /// What was read for it; earlier versions did not note it.
    #[serde(default)]
    inputs: Option<Inputs>,
}

impl Manifest {
    /// Returns where the manifest of a project lies.
    pub fn path(infra_dir: &Path) -> PathBuf {
        infra_dir.join("generated.json")
    }

    /// Reads the manifest; a project that was never configured has an empty one.
    pub fn load(infra_dir: &Path) -> Result<Self> {
        let path = Self::path(infra_dir);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(io("read", &path)(error)),
        };
        let read: Option<Self> = serde_json::from_slice(&bytes).ok();
        read.filter(|manifest| manifest.version == VERSION).ok_or_else(|| {
            Error::invalid(format!("`{}` is no list of generated files of this version", path.display()))
                .hint("remove it: files that differ from what is rendered then need `--force` once")
        })
    }

    /// Writes the manifest.
    pub fn save(&self, infra_dir: &Path) -> Result<()> {
        let versioned = Self { version: VERSION, ..self.clone() };
        let mut text = serde_json::to_vec_pretty(&versioned)
            .map_err(|error| Error::bug("the manifest has no JSON form").because(error))?;
        text.push(b'\n');
        crate::atomic_file::write(&Self::path(infra_dir), &text)
    }

    /// Returns what the files were made from; `None` if an earlier version of this program made them.
    pub const fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_ref()
    }

    /// Returns what a file was made from, by its path below the root.
    pub fn origin_of(&self, path: &Path) -> Option<&str> {
        self.origins.get(&key(path)).map(String::as_str)
    }

    /// Returns it as made from these inputs.
    pub fn with_inputs(&self, inputs: Option<&Inputs>) -> Self {
        Self { inputs: inputs.cloned(), ..self.clone() }
    }

    /// Remembers what a path is made from.
    pub fn add_origin(&mut self, path: &Path, origin: &str) {
        self.origins.insert(key(path), origin.to_owned());
    }

    /// Remembers one more content that a path may have.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) {
        let digests = self.files.entry(key(path)).or_default();
        let digest = digest(bytes);
        if !digests.contains(&digest) {
            digests.push(digest);
        }
    }

    /// Returns whether the content of a path is one that `configure` wrote.
    pub fn wrote(&self, path: &Path, bytes: &[u8]) -> bool {
        self.files.get(&key(path)).is_some_and(|digests| digests.contains(&digest(bytes)))
    }

    /// Returns whether `configure` has written a path.
    pub fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(&key(path))
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.keys().map(PathBuf::from)
    }

    /// Returns whether two manifests say the same.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.files == other.files && self.origins == other.origins && self.inputs == other.inputs
    }

    /// Takes over what another manifest knows of a path.
    pub fn keep(&mut self, path: &Path, from: &Self) {
        if let Some(digests) = from.files.get(&key(path)) {
            self.files.insert(key(path), digests.clone());
        }
    }
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_known_again_and_an_edit_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut manifest = Manifest::default();
        manifest.add(Path::new("a/b.tf"), b"old");
        manifest.add(Path::new("a/b.tf"), b"new");

        manifest.save(dir.path()).expect("a writable folder");
        let read = Manifest::load(dir.path()).expect("a manifest");

        assert!(read.wrote(Path::new("a/b.tf"), b"old") && read.wrote(Path::new("a/b.tf"), b"new"));
        assert!(!read.wrote(Path::new("a/b.tf"), b"edited") && !read.knows(Path::new("a/c.tf")));
    }

    #[test]
    fn a_manifest_that_is_none_is_an_error_that_says_what_to_do() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(Manifest::path(dir.path()), "{").expect("a file");

        let error = Manifest::load(dir.path()).expect_err("no JSON");

        assert!(error.to_string().contains("generated.json"), "{error}");
        assert!(Manifest::load(&dir.path().join("none")).expect("an empty one") == Manifest::default());
    }
}
