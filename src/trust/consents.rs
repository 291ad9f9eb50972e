//! The projects that this person trusts, each with what was said yes to.
//!
//! One small file a project below `$XDG_STATE_HOME/infra/trust`, named after its root. A yes
//! holds for the root it was given in and for the items as they were: what is changed or
//! new is asked about again.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::own_file;
use super::trust_item::{TrustItem, TrustItemKind};
use crate::atomic_file;
use crate::error::{Error, Result, io};
use crate::model::{Environment, Fingerprint, quoted};

/// What was said yes to in one project.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Consent {
    /// The root, without links.
    pub root: PathBuf,
    /// What tells this folder from another one that takes its place under the same name.
    #[serde(default)]
    pub folder: Option<String>,
    /// When the last yes was given.
    pub since: Timestamp,
    /// Whether this program made the project here, so that its secrets are this person's own.
    #[serde(default)]
    pub made_here: bool,
    /// What may run and be opened.
    #[serde(rename = "things")]
    pub items: Vec<TrustItem>,
}

impl Consent {
    /// Returns whether this covers an item.
    pub fn covers(&self, item: &TrustItem) -> bool {
        (self.made_here && item.kind == TrustItemKind::Key)
            || self.items.iter().any(|allowed| allowed.is_same(item))
    }

    /// Returns whether there was a yes to an item of this name, whatever it is now.
    pub fn knows(&self, item: &TrustItem) -> bool {
        self.items.iter().any(|allowed| allowed.kind == item.kind && allowed.name == item.name)
    }
}

/// All consents of this person.
#[derive(Clone, Debug)]
pub struct Consents {
    dir: PathBuf,
}

impl Consents {
    /// Returns where they are kept; nowhere without a home.
    pub fn of(env: &Environment) -> Result<Self> {
        let dir = env.state_dir().ok_or_else(|| {
            Error::unavailable("there is no folder to remember trust in")
                .hint("set `HOME` or `XDG_STATE_HOME`")
        })?;
        Ok(Self { dir: dir.join("trust") })
    }

    /// Returns what was said yes to in the project with this root.
    pub fn about(&self, root: &Path) -> Result<Option<Consent>> {
        let root = real(root);
        // A file that was copied under another name speaks of another root.
        let consent = self.read(&self.place(&root))?.filter(|consent| consent.root == root);
        // Nor does a project speak for another one that was put into its place.
        Ok(consent.filter(|consent| consent.folder == folder_of(&root)))
    }

    /// Adds items to what was said yes to.
    pub fn allow(&self, root: &Path, items: &[TrustItem], now: Timestamp) -> Result<()> {
        self.change(root, now, |consent| {
            consent.items.retain(|old| !items.iter().any(|new| new.kind == old.kind && new.name == old.name));
            consent.items.extend_from_slice(items);
            consent.items.sort();
        })
    }

    /// Remembers that this program made a project here.
    pub fn made_here(&self, root: &Path, now: Timestamp) -> Result<()> {
        // Whatever was allowed in a folder of this name before was another project.
        self.revoke(root)?;
        self.change(root, now, |consent| consent.made_here = true)
    }

    /// Takes every yes of a project back, and returns whether there was one.
    pub fn revoke(&self, root: &Path) -> Result<bool> {
        let path = self.place(&real(root));
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io("remove", &path)(error)),
        }
    }

    /// Returns all consents, sorted by root.
    pub fn all(&self) -> Result<Vec<Consent>> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io("read", &self.dir)(error)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let files = paths.filter(|path| path.extension().is_some_and(|suffix| suffix == "json"));
        // One that cannot be read is no yes and hides no others.
        let mut consents: Vec<Consent> = files.filter_map(|path| self.read(&path).ok().flatten()).collect();
        consents.sort_by(|a, b| a.root.cmp(&b.root));
        Ok(consents)
    }

    fn change(&self, root: &Path, now: Timestamp, change: impl FnOnce(&mut Consent)) -> Result<()> {
        let root = real(root);
        let fresh = || Consent {
            root: root.clone(),
            folder: folder_of(&root),
            since: now,
            made_here: false,
            items: Vec::new(),
        };
        // What cannot be read is no yes; a new one takes its place.
        let mut consent = self.about(&root).ok().flatten().unwrap_or_else(fresh);
        consent.since = now;
        change(&mut consent);
        let bytes = serde_json::to_vec_pretty(&consent).unwrap_or_default();
        atomic_file::write(&self.place(&root), &bytes)
    }

    fn read(&self, path: &Path) -> Result<Option<Consent>> {
        let Some(bytes) = own_file::read(path)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::unavailable("what was trusted cannot be read").because(error).at(path.display()).hint(
                format!("remove it, and you are asked again: `rm {}`", quoted(&path.display().to_string())),
            )
        })
    }

    fn place(&self, root: &Path) -> PathBuf {
        let name = Fingerprint::of([root.as_os_str().as_encoded_bytes()]);
        self.dir.join(format!("{name}.json"))
    }
}

/// Returns number and birth of a folder: numbers are used again, but not at the same moment.
fn folder_of(root: &Path) -> Option<String> {
    let facts = std::fs::metadata(root).ok()?;
    let birth = facts.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    Some(format!("{} {}", facts.ino(), birth.map(|birth| birth.as_nanos()).unwrap_or_default()))
}

fn real(root: &Path) -> PathBuf {
    std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn consents() -> (tempfile::TempDir, Consents) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let env = Environment::default().with("XDG_STATE_HOME", dir.path());
        (dir, Consents::of(&env).expect("a folder"))
    }

    fn plugin(digest: &str) -> TrustItem {
        TrustItem::new(TrustItemKind::PythonPlugin, "plugin.py", digest)
    }

    #[test]
    fn a_yes_holds_for_the_root_and_the_content_it_was_given_for() {
        let (dir, consents) = consents();
        consents.allow(dir.path(), &[plugin("one")], Timestamp::UNIX_EPOCH).expect("a file");

        let consent = consents.about(dir.path()).expect("no error").expect("a consent");

        assert!(consent.covers(&plugin("one")) && !consent.covers(&plugin("other")));
        assert!(consents.about(Path::new("/")).expect("no error").is_none());
    }

    #[test]
    fn a_newer_yes_takes_the_place_of_the_older_one_for_the_same_thing() {
        let (dir, consents) = consents();
        let key = TrustItem::new(TrustItemKind::Key, "age1x", "");
        consents.allow(dir.path(), &[plugin("one"), key.clone()], Timestamp::UNIX_EPOCH).expect("a file");
        consents.allow(dir.path(), &[plugin("two")], Timestamp::UNIX_EPOCH).expect("a file");

        let consent = consents.about(dir.path()).expect("no error").expect("a consent");

        assert!(consent.covers(&plugin("two")) && consent.covers(&key) && !consent.covers(&plugin("one")));
    }

    #[test]
    fn what_is_made_here_may_open_its_secrets_and_runs_nothing_unasked() {
        let (dir, consents) = consents();
        consents.made_here(dir.path(), Timestamp::UNIX_EPOCH).expect("a file");

        let consent = consents.about(dir.path()).expect("no error").expect("a consent");

        assert!(consent.covers(&TrustItem::new(TrustItemKind::Key, "age1x", "")));
        assert!(!consent.covers(&plugin("one")));
    }

    #[test]
    fn a_yes_that_was_taken_back_is_gone_and_a_damaged_one_is_named() {
        let (dir, consents) = consents();
        consents.allow(dir.path(), &[plugin("one")], Timestamp::UNIX_EPOCH).expect("a file");
        assert_eq!(consents.all().expect("no error").len(), 1);

        assert!(consents.revoke(dir.path()).expect("no error"));
        assert!(
            !consents.revoke(dir.path()).expect("no error") && consents.all().expect("no error").is_empty()
        );
        std::fs::write(consents.place(&real(dir.path())), "{").expect("a file");
        let error = consents.about(dir.path()).expect_err("a damaged file");

        assert!(error.to_string().contains("rm "), "{error}");
    }
}
