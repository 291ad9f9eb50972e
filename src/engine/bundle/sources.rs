//! What a plan was made from, file by file, so that a refusal can name the file.
//!
//! Compared by content: a commit says nothing here. Of an encrypted file either the bytes are the same,
//! or all that it holds: one that is encrypted anew with nothing else in it counts as the same. The
//! digest of what it holds is made with the key of the bundle, so that nobody else can guess at it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::Fingerprint;
use crate::tofu::PlanKey;

/// The file of settings.
const SETTINGS: &str = "infra.yaml";

/// The files of one stack and what else of the project makes its plan.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// The digest of each file, by its path below the project.
    files: BTreeMap<String, Fingerprint>,
    /// The digest of what is in each encrypted file.
    sealed: BTreeMap<String, Fingerprint>,
    /// The digest of what `infra.yaml` says of the stack.
    settings: Fingerprint,
}

/// Collects them.
#[derive(Debug)]
pub struct SourcesBuilder<'a> {
    key: &'a PlanKey,
    sources: Sources,
}

impl<'a> SourcesBuilder<'a> {
    /// Begins with what `infra.yaml` says of the stack.
    pub fn new(key: &'a PlanKey, settings: &[u8]) -> Self {
        let settings = Fingerprint::of([key.bytes().as_slice(), settings]);
        Self { key, sources: Sources { files: BTreeMap::new(), sealed: BTreeMap::new(), settings } }
    }

    /// Adds a file.
    pub fn add(&mut self, path: String, digest: Fingerprint) {
        self.sources.files.insert(path, digest);
    }

    /// Adds what is in an encrypted file.
    pub fn add_opened(&mut self, path: String, content: &Fingerprint) {
        let digest = Fingerprint::of([self.key.bytes().as_slice(), content.as_str().as_bytes()]);
        self.sources.sealed.insert(path, digest);
    }

    /// Returns the whole.
    pub fn build(self) -> Sources {
        self.sources
    }
}

impl Sources {
    /// Returns them without one file, which is not there yet.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.files.remove(path);
        self
    }

    /// Returns whether a file is among them.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Says which file is not what it was when the plan was made.
    pub fn change_until(&self, now: &Self) -> Option<String> {
        let all: BTreeSet<&String> = self.files.keys().chain(now.files.keys()).collect();
        let mut changed = all.into_iter().filter(|path| !self.is_same(now, path));
        let Some(first) = changed.next() else {
            let same = self.settings == now.settings;
            return (!same)
                .then(|| format!("what `{SETTINGS}` says of the stack differs from what was planned"));
        };
        let what = match (self.files.contains_key(first), now.files.contains_key(first)) {
            (true, true) => "differs from what was planned",
            (true, false) => "is gone, which differs from what was planned",
            _ => "was not there when it was planned, so the files differ",
        };
        let others = match changed.count() {
            0 => String::new(),
            1 => " (and one more file)".to_owned(),
            count => format!(" (and {count} more files)"),
        };
        Some(format!("`{first}` {what}{others}"))
    }

    fn is_same(&self, now: &Self, path: &String) -> bool {
        let (then, today) = (self.files.get(path), now.files.get(path));
        let opened = || self.sealed.get(path).is_some_and(|then| now.sealed.get(path) == Some(then));
        then == today || (then.is_some() && today.is_some() && opened())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Fingerprint {
        Fingerprint::of([text.as_bytes()])
    }

    fn sources(key: &PlanKey, files: &[(&str, &str)], opened: &[(&str, &str)]) -> Sources {
        let mut builder = SourcesBuilder::new(key, b"settings");
        files.iter().for_each(|(path, text)| builder.add((*path).to_owned(), digest(text)));
        opened.iter().for_each(|(path, text)| builder.add_opened((*path).to_owned(), &digest(text)));
        builder.build()
    }

    #[test]
    fn a_file_that_was_edited_added_or_removed_is_named() {
        let key = PlanKey::fresh().expect("a key");
        let then = sources(&key, &[("a/main.tf", "one"), ("a/x", "x")], &[]);

        assert_eq!(then.change_until(&then), None);
        for (now, named) in [
            (&[("a/main.tf", "two"), ("a/x", "x")][..], "`a/main.tf` differs"),
            (&[("a/x", "x")], "`a/main.tf` is gone"),
            (&[("a/main.tf", "one"), ("a/x", "x"), ("a/new", "")], "`a/new` was not there"),
            (&[("a/main.tf", "two"), ("a/x", "y")], "(and one more file)"),
        ] {
            let told = then.change_until(&sources(&key, now, &[])).expect("a difference");
            assert!(told.contains(named) && told.contains("differ"), "{told}");
        }
    }

    #[test]
    fn an_encrypted_file_is_the_same_if_its_bytes_or_its_content_are() {
        let key = PlanKey::fresh().expect("a key");
        let then = sources(&key, &[("s.yaml", "cipher-1")], &[("s.yaml", "secret")]);
        let again = sources(&key, &[("s.yaml", "cipher-2")], &[("s.yaml", "secret")]);
        let other = sources(&key, &[("s.yaml", "cipher-2")], &[("s.yaml", "other")]);
        let shut = sources(&key, &[("s.yaml", "cipher-2")], &[]);

        assert_eq!(then.change_until(&again), None);
        assert!(then.change_until(&other).is_some() && then.change_until(&shut).is_some());
        let text = serde_json::to_string(&then).expect("JSON");
        assert!(!text.contains(digest("secret").as_str()), "the bare digest could be guessed at");
    }
}
