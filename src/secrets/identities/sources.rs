//! Where private keys come from: variables, a command, files of the user and the project.
//!
//! Reads files and runs the command; a source that is missing or broken is remembered and
//! never fails the others.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::{ExposedKey, Identities, Prompt};
use crate::model::Environment;
use crate::process::{Interrupts, Invocation, capture};

/// Who names a key file on behalf of the project.
const BY_PROJECT: &str = "infra.yaml";

/// More than any file of keys has.
const LONGEST_FILE: u64 = 1024 * 1024;

/// What the sources depend on.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The environment of the program.
    pub env: &'a Environment,
    /// Where the program was started.
    pub dir: &'a Path,
    /// The root of the project, where there is one.
    pub project: Option<&'a Path>,
    /// The key file that the project names.
    pub key_file: Option<&'a Path>,
    /// Whether keys outside of the project may be used.
    pub found: FoundKeys,
    /// For the command that prints keys.
    pub interrupts: &'a Interrupts,
}

/// Whether keys may be used that were not named for this call and do not belong to the project.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FoundKeys {
    /// Yes.
    Used,
    /// No: they are only told, so that a person can be asked.
    Withheld,
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources")
            .field("dir", &self.dir)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

/// One place to look at.
enum KeySource {
    /// The text of a variable.
    Variable(&'static str, Zeroizing<String>),
    /// The output of the command in a variable.
    Command(&'static str, String),
    /// A file that was named, and where it was named.
    Named(PathBuf, &'static str),
    /// A file that is read when it is there.
    Usual(PathBuf),
}

/// Collects the keys of all sources.
pub async fn load<'p>(sources: Sources<'_>, prompt: &'p Prompt<'p>) -> Identities<'p> {
    let mut identities = Identities::none(prompt);
    for variable in ["SOPS_AGE_KEY", "SOPS_AGE_KEY_FILE"] {
        if sources.env.get(variable).is_none() {
            identities.absent.push(format!("`{variable}`"));
        }
    }
    for source in list(&sources) {
        identities.withholding = sources.found == FoundKeys::Withheld && source.is_found(sources.project);
        match source {
            KeySource::Variable(name, text) => identities.add(&format!("`{name}`"), text.as_bytes()),
            KeySource::Command(name, command) => run(&mut identities, sources, name, &command).await,
            KeySource::Named(path, by) => read_named(&mut identities, &path, by),
            KeySource::Usual(path) => read_usual(&mut identities, &path),
        }
    }
    identities.withholding = false;
    identities
}

impl KeySource {
    /// Tells whether this is a key of the person that the caller did not name and the project does not hold.
    ///
    /// What the project names counts by where it really is: a link in it may lead to the person's own.
    fn is_found(&self, project: Option<&Path>) -> bool {
        match self {
            Self::Variable(..) | Self::Command(..) => false,
            Self::Named(path, BY_PROJECT) | Self::Usual(path) => {
                project.is_some_and(|root| is_outside(root, path))
            }
            Self::Named(..) => false,
        }
    }
}

/// Returns whether a path, with every link followed, leads out of a folder.
pub(crate) fn is_outside(root: &Path, path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    !real(path).starts_with(real(root))
}

fn list(sources: &Sources<'_>) -> Vec<KeySource> {
    let (env, dir) = (sources.env, sources.dir);
    let variable = env
        .get("SOPS_AGE_KEY")
        .map(|text| KeySource::Variable("SOPS_AGE_KEY", Zeroizing::new(text.to_owned())));
    let named = |name| env.path(name).map(|path| KeySource::Named(dir.join(path), name));
    let command = |name| env.get(name).map(|command| KeySource::Command(name, command.to_owned()));
    let home = env.path("HOME");
    let config = env.path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let below = |base: Option<&Path>, rest: &str| base.map(|base| KeySource::Usual(base.join(rest)));
    [
        variable,
        named("SOPS_AGE_KEY_FILE"),
        command("SOPS_AGE_KEY_CMD"),
        below(config.as_deref(), "sops/age/keys.txt"),
        sources.key_file.map(|path| KeySource::Named(dir.join(path), BY_PROJECT)),
        below(sources.project, "age.key"),
        below(sources.project, "age.agekey"),
        named("SOPS_AGE_SSH_PRIVATE_KEY_FILE"),
        command("SOPS_AGE_SSH_PRIVATE_KEY_CMD"),
        below(home.as_deref(), ".ssh/id_ed25519"),
        below(home.as_deref(), ".ssh/id_rsa"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Runs a command that prints keys; its own words are not repeated, they could hold a key.
async fn run(identities: &mut Identities<'_>, sources: Sources<'_>, name: &str, command: &str) {
    let call = Invocation::new("/bin/sh", sources.dir, sources.env.clone()).args(["-c", command]);
    let place = format!("the command in `{name}`");
    match capture(call, sources.interrupts).await {
        Ok(ended) if ended.status.success() => identities.add(&place, ended.stdout.unmasked()),
        Ok(ended) => identities.complaints.push(format!("{place} failed: {}", ended.status)),
        Err(error) => identities.complaints.push(format!("{place}: {}", error.message())),
    }
}

fn read_named(identities: &mut Identities<'_>, path: &Path, by: &str) {
    match read(path) {
        Ok(text) => add_file(identities, path, &text),
        Err(error) => {
            identities.complaints.push(format!("`{}`, named by `{by}`: {error}", path.display()));
        }
    }
}

fn read_usual(identities: &mut Identities<'_>, path: &Path) {
    match read(path) {
        Ok(text) => add_file(identities, path, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            identities.absent.push(format!("`{}`", path.display()));
        }
        Err(error) => identities.complaints.push(format!("`{}`: {error}", path.display())),
    }
}

fn add_file(identities: &mut Identities<'_>, path: &Path, text: &[u8]) {
    identities.add(&format!("`{}`", path.display()), text);
    let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode() & 0o7777);
    if mode & 0o044 != 0 {
        identities.exposed.push(ExposedKey { path: path.to_owned(), mode });
    }
}

fn read(path: &Path) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(Vec::new());
    File::open(path)?.take(LONGEST_FILE).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use age::secrecy::ExposeSecret;

    fn nobody(_: &str) -> Option<Zeroizing<String>> {
        None
    }

    /// Makes a key; returns its private and its public half.
    fn new_key() -> (String, String) {
        let identity = age::x25519::Identity::generate();
        (identity.to_string().expose_secret().to_owned(), identity.to_public().to_string())
    }

    async fn loaded(env: &Environment, dir: &Path) -> Identities<'static> {
        let interrupts = Interrupts::listen().unwrap();
        let sources = Sources {
            env,
            dir,
            project: Some(dir),
            key_file: None,
            found: FoundKeys::Used,
            interrupts: &interrupts,
        };
        load(sources, &nobody).await
    }

    #[tokio::test]
    async fn keys_outside_of_the_project_are_withheld_and_a_link_does_not_bring_them_in() {
        let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mine, own, linked) = (new_key(), new_key(), new_key());
        std::fs::create_dir_all(home.path().join(".config/sops/age")).unwrap();
        std::fs::write(home.path().join(".config/sops/age/keys.txt"), &mine.0).unwrap();
        std::fs::write(home.path().join("linked"), &linked.0).unwrap();
        std::fs::write(project.path().join("age.key"), &own.0).unwrap();
        std::os::unix::fs::symlink(home.path().join("linked"), project.path().join("age.agekey")).unwrap();
        let env = Environment::default().with("HOME", home.path());
        let interrupts = Interrupts::listen().unwrap();
        let sources = Sources {
            env: &env,
            dir: project.path(),
            project: Some(project.path()),
            key_file: None,
            found: FoundKeys::Withheld,
            interrupts: &interrupts,
        };

        let mut identities = load(sources, &nobody).await;

        assert_eq!(identities.recipients(), [own.1.as_str()]);
        assert!(identities.withheld_for(&mine.1).unwrap().name.ends_with(&mine.1));
        assert!(identities.withheld_for(&linked.1).is_some() && identities.withheld_for(&own.1).is_none());
        identities.release();
        assert_eq!(identities.recipients().len(), 3);
    }

    #[tokio::test]
    async fn every_source_counts() {
        let dir = tempfile::tempdir().unwrap();
        let keys: Vec<(String, String)> = (0..5).map(|_| new_key()).collect();
        std::fs::create_dir_all(dir.path().join(".config/sops/age")).unwrap();
        for (file, key) in [("named", 1), (".config/sops/age/keys.txt", 2), ("age.key", 3), ("printed", 4)] {
            std::fs::write(dir.path().join(file), &keys[key].0).unwrap();
        }
        let env = Environment::default().with("SOPS_AGE_KEY", &keys[0].0).with("HOME", dir.path());
        let env = env.with("SOPS_AGE_KEY_FILE", "named").with("SOPS_AGE_KEY_CMD", "/bin/cat 'printed'");

        let identities = loaded(&env, dir.path()).await;

        let found = identities.recipients();
        assert!(keys.iter().all(|(_, public)| found.contains(&public.as_str())), "{identities:?}");
        assert_eq!(found.len(), 5);
    }

    #[tokio::test]
    async fn broken_sources_are_named_and_hide_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (private, public) = new_key();
        std::fs::write(dir.path().join("age.agekey"), private).unwrap();
        let env = Environment::default().with("SOPS_AGE_KEY_FILE", "/nowhere/key");
        let env = env.with("SOPS_AGE_KEY_CMD", "exit 3").with("SOPS_AGE_KEY", "nonsense");

        let identities = loaded(&env, dir.path()).await;

        assert_eq!(identities.recipients(), [public]);
        let text = identities.tried(Error::failed("no")).to_string();
        for word in ["/nowhere/key", "SOPS_AGE_KEY_CMD", "exit status: 3", "`SOPS_AGE_KEY`: line 1"] {
            assert!(text.contains(word), "{word} is missing: {text}");
        }
    }

    #[tokio::test]
    async fn a_key_file_that_others_can_read_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("age.key");
        std::fs::write(&path, new_key().0).unwrap();
        let env = Environment::default();

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let exposed = loaded(&env, dir.path()).await.exposed().to_vec();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let closed = loaded(&env, dir.path()).await.exposed().to_vec();

        assert_eq!(exposed, [ExposedKey { path, mode: 0o640 }]);
        assert!(closed.is_empty());
    }
}
