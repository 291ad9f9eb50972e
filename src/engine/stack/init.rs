//! `tofu init`, only when something it depends on changed.
//!
//! What it depends on is read from the files (providers, module sources, the backend
//! block), the provider lock file, the version of tofu, and the variables that sources and
//! backend refer to. After a success their fingerprint is kept below `.infra/init`; the same
//! fingerprint and an untouched data folder, whose links into the plugin cache still lead
//! somewhere, mean that `init` would do nothing.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::kept_selection::KeptSelection;
use super::tofu_workspaces::{look_for_workspace, make_workspace, require_workspace};
use crate::engine::calls::{Stop, Watched, explain, left_behind, watch};
use crate::engine::run::WhenToInit;
use crate::engine::session::Session;
use crate::engine::variables::{EarlyValues, with_early_values};
use crate::error::{Result, io};
use crate::events::RunEvent;
use crate::model::{Backend, Fingerprint, Project, Stack, StackError, StackRun, Step};
use crate::process::Invocation;
use crate::stacks;
use crate::tofu::call;
use crate::tofu::call::InitBackend;
use crate::trust::UserKey;

/// Below `providers`: host, namespace, name, version, platform.
const PACKAGE_DEPTH: usize = 5;

/// What is remembered of a successful `init`.
#[derive(Deserialize, PartialEq, Serialize)]
struct InitRecord {
    fingerprint: Fingerprint,
    /// Which parts of the data folder are there; a stack without providers and backend has none.
    data: Vec<String>,
    /// The variables it depends on, in a form that tells nothing about them without this user's key.
    #[serde(default)]
    variables: Option<String>,
    /// What only the person who ran it could write; `None` where no key can be kept.
    #[serde(default)]
    proof: Option<String>,
}

/// Returns whether this person's own `init` prepared a stack in this folder.
pub fn is_prepared_by(key: &UserKey, project: &Project, stack: &Stack) -> bool {
    let path = record_path(project, stack, InitBackend::Yes);
    let record = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<InitRecord>(&bytes).ok());
    let proof = record.and_then(|record| record.proof);
    proof.is_some_and(|proof| key.proves(PURPOSE, proof_parts(project, stack), &proof))
}

const PURPOSE: &str = "prepared stack";

/// The folder counts: what lies in another one was not prepared by this.
fn proof_parts<'a>(project: &'a Project, stack: &'a Stack) -> [&'a [u8]; 2] {
    [project.root.as_os_str().as_encoded_bytes(), stack.id.as_str().as_bytes()]
}

fn record_path(project: &Project, stack: &Stack, backend: InitBackend) -> PathBuf {
    let kind = match backend {
        InitBackend::Yes => "init",
        InitBackend::No => "init-without-backend",
    };
    project.infra_dir().join(kind).join(format!("{}.json", stack.id.state_name()))
}

/// Runs `init` where it is needed.
pub async fn init_stack(
    session: &Session,
    run: &StackRun,
    when: WhenToInit,
    extra: &[String],
) -> Result<(), Stop> {
    if !is_migration(extra) {
        look_for_workspace(session, run).await?;
    }
    let folder = DataFolder::of(session, run, InitBackend::Yes).await?;
    folder.init(run, when, extra).await?;
    require_workspace(session, run).await
}

/// Prepares a folder for `tofu workspace` itself, which may be about to select another one.
pub async fn init_whatever_is_selected(session: &Session, run: &StackRun) -> Result<(), Stop> {
    DataFolder::of(session, run, InitBackend::Yes).await?.init(run, WhenToInit::Needed, &[]).await
}

/// Returns whether tofu takes the workspaces along: the new place need not have the selected one yet.
fn is_migration(extra: &[String]) -> bool {
    let names = extra.iter().map(|arg| arg.trim_start_matches('-'));
    names.into_iter().any(|name| name.starts_with("migrate-state") || name.starts_with("force-copy"))
}

/// Prepares a stack for what needs no backend, and returns a call that finds what was prepared.
///
/// Even without a backend, `init` asks one that it has met before; so it gets a data folder of its
/// own, unless everything is prepared already.
pub(super) async fn init_without_backend(
    session: &Session,
    run: &StackRun,
    when: WhenToInit,
) -> Result<Invocation, Stop> {
    let usual = DataFolder::of(session, run, InitBackend::Yes).await?;
    if when == WhenToInit::Needed && usual.is_ready()? {
        return Ok(usual.call(run)?);
    }
    let folder = DataFolder::of(session, run, InitBackend::No).await?;
    folder.init(run, when, &[]).await?;
    Ok(folder.call(run)?)
}

/// Where tofu keeps the providers and modules of a stack.
struct DataFolder<'a> {
    session: &'a Session,
    stack: &'a Stack,
    backend: InitBackend,
    path: PathBuf,
    /// Whether what lies in it may be used as it is.
    keeps: Reuse,
    /// The variables that `init` depends on; `None` where no key can hide them.
    variables: Option<String>,
}

/// Whether a folder is used again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reuse {
    /// Yes.
    Always,
    /// No: it is emptied first.
    Nothing,
}

impl<'a> DataFolder<'a> {
    async fn of(session: &'a Session, run: &'a StackRun, backend: InitBackend) -> Result<Self> {
        let stack = &run.stack;
        let named = match backend {
            InitBackend::Yes => Some(session.data_dir_of(stack)),
            InitBackend::No => secret_folder(session, stack),
        };
        // What lies under a name that everybody can tell may have come with a repository.
        let is_known = stack.declared_workspace().is_some() && session.plan_keys.user().is_err();
        let keeps = if named.is_some() && !is_known { Reuse::Always } else { Reuse::Nothing };
        let path = named.unwrap_or_else(|| known_folder(session, stack));
        let variables = early_values_digest(session, run).await?;
        Ok(Self { session, stack, backend, path, keeps, variables })
    }

    async fn init(&self, run: &StackRun, when: WhenToInit, extra: &[String]) -> Result<(), Stop> {
        let (session, stack) = (self.session, self.stack);
        // Whoever has nothing to do waits for nobody who applies in the same folder.
        if when == WhenToInit::Needed && self.is_ready()? {
            return Ok(());
        }
        let _alone = session.turn_in_folder(stack).await?;
        if when == WhenToInit::Needed && self.is_ready()? {
            return Ok(());
        }
        self.make_room()?;
        // One that fails may still have changed what lies there.
        self.forget()?;
        session.events.emit(RunEvent::StepStarted { stack: stack.id.clone(), step: Step::Init });
        // A workspace that is not there yet would be made by tofu, or asked for.
        let base = self.call(run)?.without_env("TF_WORKSPACE");
        let base = with_early_values(session, run, base).await;
        let call = self.with_backend_config(base, extra)?;
        let call = call::init(call, self.backend, &self.with_own_address(extra), session.narration());
        let watched = self.keeping_selection(call, extra).await?;
        if !watched.status.success() {
            return Err(self.why_not(run, &watched).await);
        }
        if self.backend == InitBackend::Yes && stack.declared_workspace().is_some() {
            make_workspace(session, run).await?;
        }
        Ok(self.remember()?)
    }

    /// Runs `init`, after which what was selected by hand still is.
    async fn keeping_selection(&self, call: Invocation, extra: &[String]) -> Result<Watched, Stop> {
        let (session, stack) = (self.session, self.stack);
        let selection = match is_migration(extra) || stack.declared_workspace().is_some() {
            true => None,
            false => Some(KeptSelection::of(session, stack, &self.path).await?),
        };
        let watched = watch(session, &stack.id, Step::Init, call).await;
        selection.map_or(Ok(()), KeptSelection::put_back)?;
        watched
    }

    /// Explains an `init` that failed; one may fail because what is selected does not exist.
    async fn why_not(&self, run: &StackRun, watched: &Watched) -> Stop {
        let stop = explain(self.session, self.stack, watched).await;
        if self.backend == InitBackend::No || matches!(stop, Stop::Interrupted) {
            return stop;
        }
        match require_workspace(self.session, run).await {
            Err(Stop::Failed(error)) if error.code.as_deref() == Some(StackError::WORKSPACE_UNKNOWN) => {
                Stop::Failed(error)
            }
            _ => stop,
        }
    }

    /// Makes the folder where tofu would not, and takes away what must not count.
    fn make_room(&self) -> Result<()> {
        let is_own = self.stack.declared_workspace().is_some();
        match self.backend {
            InitBackend::No => remove_folder(&known_folder(self.session, self.stack))?,
            InitBackend::Yes if !is_own => return Ok(()),
            InitBackend::Yes if self.keeps == Reuse::Nothing => remove_folder(&self.path)?,
            InitBackend::Yes => {}
        }
        // tofu would make the folders above it in its own way.
        crate::atomic_file::create_private_dir(&self.path)?;
        // It would refuse to go on if what was selected here is gone.
        match std::fs::remove_file(self.path.join("environment")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("remove", &self.path.join("environment"))(error))
            }
            _ => Ok(()),
        }
    }

    /// Adds the addresses of a workspace that a foreign server keeps: the block has only those of the stack.
    fn with_own_address(&self, extra: &[String]) -> Vec<String> {
        let is_foreign = self.stack.backend != Backend::Embedded && self.stack.backend.kind() == "http";
        let own = match self.stack.workspace {
            Some(_) if is_foreign && self.backend == InitBackend::Yes => {
                ["address", "lock_address", "unlock_address"].as_slice()
            }
            _ => &[],
        };
        let given = own.iter().filter_map(|name| Some((name, self.stack.backend.attribute(name)?)));
        let given = given.map(|(name, value)| format!("-backend-config={name}={value}"));
        given.chain(self.new_place()).chain(extra.iter().cloned()).collect()
    }

    /// Answers what tofu asks about states that lie in the folder's own workspaces, where the block names a
    /// backend without any now: it takes along the one of `default` alone, and only if there is none. The
    /// state of this workspace comes by `state push`.
    fn new_place(&self) -> impl Iterator<Item = String> + use<> {
        let is_own = self.backend == InitBackend::Yes
            && self.stack.declared_workspace().is_some()
            && !self.stack.backend.has_workspaces();
        let default = self.session.dir_of(self.stack).join("terraform.tfstate");
        let is_left = is_own
            && !default.exists()
            && left_behind(&self.session.project, &self.session.env, self.stack).is_some();
        let answers: &[&str] = if is_left { &["-migrate-state", "-force-copy"] } else { &[] };
        answers.iter().map(|answer| (*answer).to_owned())
    }

    /// Gives `init` what belongs to the backend beside its block, unless somebody does that by hand.
    fn with_backend_config(&self, base: Invocation, extra: &[String]) -> Result<Invocation> {
        let by_hand = extra.iter().any(|arg| arg.trim_start_matches('-').starts_with("backend-config"));
        if self.backend == InitBackend::No || by_hand {
            return Ok(base);
        }
        let entries = stacks::backend_config(&self.session.project, self.stack)?;
        Ok(entries.iter().fold(base, call::with_backend_config))
    }

    /// Returns a call that uses this folder.
    fn call(&self, run: &StackRun) -> Result<Invocation> {
        let call = self.session.call(self.stack, &run.env)?;
        Ok(match (self.backend, self.path.to_str()) {
            (InitBackend::No, Some(path)) => call.env("TF_DATA_DIR", path).without_env("TF_WORKSPACE"),
            _ => call,
        })
    }

    fn is_ready(&self) -> Result<bool> {
        let was_made_now = self.session.prepared.borrow().contains(&self.stack.id);
        if self.variables.is_none() || (self.keeps == Reuse::Nothing && !was_made_now) {
            return Ok(false);
        }
        let Ok(bytes) = std::fs::read(self.record_path()) else { return Ok(false) };
        let Ok(record) = serde_json::from_slice::<InitRecord>(&bytes) else { return Ok(false) };
        Ok(InitRecord { proof: None, ..record } == self.present()?)
    }

    fn remember(&self) -> Result<()> {
        let key = self.session.plan_keys.user().ok();
        let proof = key.map(|key| key.proof(PURPOSE, proof_parts(&self.session.project, self.stack)));
        let record = serde_json::to_vec(&InitRecord { proof, ..self.present()? }).unwrap_or_default();
        if self.backend == InitBackend::Yes {
            self.session.prepared.borrow_mut().insert(self.stack.id.clone());
        }
        crate::atomic_file::write(&self.record_path(), &record)
    }

    fn forget(&self) -> Result<()> {
        match std::fs::remove_file(self.record_path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("remove", &self.record_path())(error))
            }
            _ => Ok(()),
        }
    }

    fn present(&self) -> Result<InitRecord> {
        let lock_file = self.session.dir_of(self.stack).join(".terraform.lock.hcl");
        let lock = match std::fs::read(&lock_file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(io("read", &lock_file)(error)),
        };
        let version = self.session.tofu.version.to_string();
        let facts = self.stack.init_facts.iter().map(String::as_bytes);
        let fingerprint = Fingerprint::of([version.as_bytes(), &lock].into_iter().chain(facts));
        let parts = ["modules/modules.json", "providers", "terraform.tfstate"];
        let there =
            |part: &&str| self.path.join(part).exists() && all_there(&self.path.join(part), PACKAGE_DEPTH);
        let data = parts.into_iter().filter(there).map(str::to_owned).collect();
        Ok(InitRecord { fingerprint, data, variables: self.variables.clone(), proof: None })
    }

    fn record_path(&self) -> PathBuf {
        record_path(&self.session.project, self.stack, self.backend)
    }
}

/// Returns what stands for the variables that `init` depends on; empty where there are none.
///
/// Those of the encryption block are not among them: the result of `init` is the same whatever they
/// are. Nothing where this person has no key: then `init` runs every time.
async fn early_values_digest(session: &Session, run: &StackRun) -> Result<Option<String>> {
    let early = session.early_of(&run.stack);
    if early.of_init().is_empty() && early.definitions().next().is_none() {
        return Ok(Some(String::new()));
    }
    let Ok(key) = session.plan_keys.user() else { return Ok(None) };
    let values = EarlyValues::of(session, run, &early).await.digests(session, run, &early)?;
    let definitions = early.definitions().map(str::as_bytes);
    let parts = definitions.chain(values.iter().map(|value| value.as_bytes()));
    Ok(Some(key.proof("variables of init", parts)))
}

/// Returns the folder for what is prepared without a backend, under a name that only this person can know.
///
/// tofu runs the providers that it finds there, and a repository may bring a `.infra`; none where this
/// person has no key.
fn secret_folder(session: &Session, stack: &Stack) -> Option<PathBuf> {
    let key = UserKey::load(&session.env).ok()?;
    let parts = [session.project.root.as_os_str().as_encoded_bytes(), stack.id.as_str().as_bytes()];
    let name = key.proof("folder of prepared providers", parts);
    Some(session.project.infra_dir().join("validate").join(name.get(..32)?))
}

/// Returns the folder under the name that everybody can tell.
fn known_folder(session: &Session, stack: &Stack) -> PathBuf {
    session.project.infra_dir().join("validate").join(stack.id.file_name())
}

fn remove_folder(path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Returns whether everything below a folder of providers is there: a plugin cache may be emptied
/// behind its links.
fn all_there(path: &Path, depth: usize) -> bool {
    if depth == 0 {
        return path.exists();
    }
    let Ok(entries) = std::fs::read_dir(path) else { return path.exists() };
    entries.flatten().all(|entry| all_there(&entry.path(), depth - 1))
}
