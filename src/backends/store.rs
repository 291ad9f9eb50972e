//! The store that `state.store` names, opened with the right credentials.
//!
//! A bucket is tried out before it is trusted with a lock; the result is remembered below
//! `.infra/probe`, so that runs do not pay for it. Begin at [`open_store`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::infra_lock::{InfraLock, KnownState};
use super::kept_at::KeptAt;
use super::state_place::StatePlace;
use crate::error::{Error, Result};
use crate::model::{Clock, Environment, Fingerprint, LockFile, Project};
use crate::state::{Probe, Retention, StateStore, StorePlace};

/// How long a good probe is believed.
const BELIEVED: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What the reserved keys of the secrets may set for a store.
const STORE_VARIABLES: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"];

/// What is remembered of a probe.
#[derive(Deserialize, Serialize)]
struct ProbeRecord {
    store: String,
    at: Timestamp,
}

/// Returns where the states of a project are kept.
pub fn store_place(project: &Project) -> Result<StorePlace> {
    let setting = project.state.store.as_deref().unwrap_or(".infra/state");
    StorePlace::parse(setting, &project.root)
        .map_err(|error| error.at(format!("{}: state.store", project.root.join("infra.yaml").display())))
}

/// Returns the environment with the credentials for a store that are among the secrets.
pub fn store_environment<'a>(
    inherited: &Environment,
    secrets: impl Iterator<Item = &'a BTreeMap<String, Zeroizing<String>>>,
) -> Environment {
    let mut env = inherited.clone();
    for (name, value) in secrets.flatten() {
        if STORE_VARIABLES.contains(&name.as_str()) {
            env.set(name, value.as_str());
        }
    }
    env
}

/// Opens where infra keeps the states of a project.
///
/// A folder that `infra.lock` says holds states and that is not there is not made: it may be a share that
/// is not mounted.
pub async fn open_place(project: &Project, env: &Environment, clock: Clock) -> Result<StatePlace> {
    if let Some(url) = &project.state.url {
        return Ok(StatePlace::Server(url.trim_end_matches('/').to_owned()));
    }
    if let StorePlace::Folder(folder) = store_place(project)?
        && !folder.is_dir()
        && holds_known_states(project)?
    {
        return Ok(StatePlace::Absent(folder));
    }
    let name = project.is_named.then(|| project.name.clone());
    let store = open_store(project, env, clock).await?;
    Ok(StatePlace::Store(store.of_project(name)))
}

/// Returns whether states of the project are to be in the folder that it names.
///
/// The project's own folder is made with the first state of a checkout.
fn holds_known_states(project: &Project) -> Result<bool> {
    let here = KeptAt::of(project)?;
    let is_here =
        |known: &KnownState| KeptAt::parse(&known.kept, &project.root).is_ok_and(|kept| kept.is_same(&here));
    // What an unreadable file says cannot be told; then nothing is made either.
    let known = read_infra_lock(project).map_or(true, |lock| lock.states.values().any(is_here));
    Ok(!here.is_embedded() && known)
}

/// Returns what `infra.lock` says about the states; an empty record if the project has none.
pub fn read_infra_lock(project: &Project) -> Result<InfraLock> {
    match project.state.lock_file {
        LockFile::On => Ok(InfraLock::read(&project.root)?.unwrap_or_default()),
        LockFile::Off => Ok(InfraLock::default()),
    }
}

/// Opens the store; a bucket that does not keep locks safe is refused.
async fn open_store(project: &Project, env: &Environment, clock: Clock) -> Result<StateStore> {
    let place = store_place(project)?;
    let store = open_store_untried(project, env, clock)?;
    if !place.is_remote() || is_believed(project, &place, clock) {
        return Ok(store);
    }
    let probe = store.probe().await?;
    remember_probe(project, &probe, clock)?;
    match probe.refusal(&place) {
        Some(refusal) => Err(refusal),
        None => Ok(store),
    }
}

/// Opens the store without a test of its locks.
pub fn open_store_untried(project: &Project, env: &Environment, clock: Clock) -> Result<StateStore> {
    let retention = Retention::of(project.state.keep_versions, project.state.keep_days);
    Ok(StateStore::open(&store_place(project)?, env, clock)?.with_retention(retention))
}

/// Remembers a good probe of the project's store, and forgets an earlier one after a bad.
pub fn remember_probe(project: &Project, probe: &Probe, clock: Clock) -> Result<()> {
    let place = store_place(project)?;
    let path = record_path(project, &place);
    if !probe.is_safe() {
        // Not there is as good as removed.
        let _ = std::fs::remove_file(path);
        return Ok(());
    }
    let record = ProbeRecord { store: place.to_string(), at: clock.now() };
    let bytes = serde_json::to_vec(&record)
        .map_err(|error| Error::bug("the record of a probe has no JSON form").because(error))?;
    crate::atomic_file::write(&path, &bytes)
}

fn is_believed(project: &Project, place: &StorePlace, clock: Clock) -> bool {
    let Ok(bytes) = std::fs::read(record_path(project, place)) else { return false };
    let Ok(record) = serde_json::from_slice::<ProbeRecord>(&bytes) else { return false };
    let age = clock.now().duration_since(record.at);
    record.store == place.to_string() && !age.is_negative() && age < BELIEVED
}

fn record_path(project: &Project, place: &StorePlace) -> PathBuf {
    let name = Fingerprint::of([place.to_string().as_bytes()]).to_string();
    project.infra_dir().join("probe").join(format!("{}.json", &name[..name.len().min(16)]))
}
