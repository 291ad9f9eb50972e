//! What was last applied of each stack: a copy of its files below `.infra/applied`, from
//! which it can still be destroyed when its folder is gone.
//!
//! The copy holds what a plan is made from: configuration, local modules, plain and
//! encrypted variable files as they lie on the disk. It never holds a decrypted value.
//! Begin at [`remember`] and at [`removed_stacks`].

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inputs::Inputs;
use super::memorable::memorable;
use super::secret_names::is_secret;
use super::session::Session;
use super::shared_copies;
use super::source::source_files;
use crate::atomic_file;
use crate::backends::{open_store_untried, state_name, store_place};
use crate::error::{Result, io};
use crate::model::project::OutputRef;
use crate::model::{
    Backend, Clock, Environment, Project, Stack, StackId, StackRun, StackSettings, WorkspaceOrigin,
};
use crate::stacks;

const RECORD: &str = "applied.json";
const TREE: &str = "tree";

/// Marks a copy that lies beside the state as well.
const PUBLISHED: &str = "published";

/// A larger file is no configuration.
const LARGEST: u64 = 10 * 1024 * 1024;

/// What `infra.yaml` said about the stack: names and places, never values of secrets.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Record {
    stack: StackId,
    path: PathBuf,
    applied_at: Timestamp,
    var_files: Vec<String>,
    secrets: Vec<String>,
    inputs: BTreeMap<String, (StackId, String)>,
    env: BTreeMap<String, String>,
    protect: bool,
    /// Everything it depended on by an edge.
    #[serde(default)]
    depends_on: BTreeSet<StackId>,
    /// The values of its inputs; never a sensitive one.
    #[serde(default)]
    values: BTreeMap<String, Value>,
    /// The workspace that `infra.yaml` declared.
    #[serde(default)]
    workspace: Option<String>,
    /// The variable that got its name.
    #[serde(default)]
    workspace_variable: Option<String>,
}

impl Record {
    /// Returns where its inputs came from.
    pub fn into_inputs(self) -> BTreeMap<String, OutputRef> {
        let reference = |(name, (stack, output))| (name, OutputRef { stack, output });
        self.inputs.into_iter().map(reference).collect()
    }

    /// Returns what was given to a variable, if that may be remembered.
    pub fn take_value(mut self, variable: &str) -> Option<Value> {
        self.values.remove(variable)
    }

    /// Returns the inputs whose values must not be remembered.
    pub fn unremembered(self) -> Vec<OutputRef> {
        let values = self.values.clone();
        let hidden = self.into_inputs().into_iter().filter(|(name, _)| !values.contains_key(name));
        hidden.map(|(_, from)| from).collect()
    }

    /// Returns whether it takes the same from the same stacks as another.
    fn is_fed_like(&self, other: &Self) -> bool {
        self.inputs == other.inputs && self.values == other.values && self.depends_on == other.depends_on
    }
}

/// A stack whose folder is gone, but whose state may still have resources.
#[derive(Clone, Debug)]
pub struct RemovedStack {
    /// The stack as it was last applied; its path is that of the copy.
    pub stack: Stack,
    /// What `infra.yaml` said about it then.
    pub settings: StackSettings,
    /// Where its folder was, below the project's root.
    pub was_at: PathBuf,
    /// When it was last applied.
    pub applied_at: Timestamp,
}

/// Copies what is about to be applied, and puts the copy where those who share the state find it.
pub(super) async fn remember(session: &Session, run: &StackRun, inputs: &Inputs) -> Result<()> {
    let (project, id) = (&session.project, &run.stack.id);
    let home = home_of(project, id);
    // A workspace that nobody declared is no stack of the tree, so none that can be removed from it.
    let is_passing = run.stack.workspace.is_some() && run.stack.declared_workspace().is_none();
    if is_copy(session, &run.stack) || is_passing {
        return Ok(());
    }
    let values = memorable(session, run, inputs).await;
    replace(project, id, |fresh| {
        copy_files(session, run, &fresh.join(TREE))?;
        let record = serde_json::to_vec_pretty(&record_of(session, run, values)).unwrap_or_default();
        atomic_file::write(&fresh.join(RECORD), &record)
    })?;
    match shared_copies::publish(session, &run.stack, &home).await? {
        true => mark_published(project, id),
        false => Ok(()),
    }
}

/// Notes of a stack that needed no change what it takes from others now.
pub(super) async fn remember_inputs(session: &Session, run: &StackRun, inputs: &Inputs) -> Result<()> {
    let Some(noted) = record(&session.project, &run.stack.id) else { return Ok(()) };
    let values = memorable(session, run, inputs).await;
    match noted.is_fed_like(&record_of(session, run, values)) {
        true => Ok(()),
        false => remember(session, run, inputs).await,
    }
}

/// Returns what was noted of a stack on this machine.
pub(super) fn record(project: &Project, id: &StackId) -> Option<Record> {
    parse(&std::fs::read(home_of(project, id).join(RECORD)).ok()?)
}

/// Returns what was last noted of a stack, here or by somebody who shares its state.
pub(super) async fn last_record(session: &Session, stack: &Stack) -> Option<Record> {
    let shared = shared_copies::file_of(session, stack, Path::new(RECORD)).await.ok().flatten();
    let shared = shared.as_deref().and_then(parse);
    [record(&session.project, &stack.id), shared].into_iter().flatten().max_by_key(|record| record.applied_at)
}

fn parse(bytes: &[u8]) -> Option<Record> {
    serde_json::from_slice(bytes).ok()
}

/// Returns whether something of a stack was applied here that was not destroyed since.
pub(super) fn is_remembered(project: &Project, id: &StackId) -> bool {
    home_of(project, id).exists()
}

/// Returns whether a stack is run from the copy of what was applied: its folder is gone.
pub fn is_copy(session: &Session, stack: &Stack) -> bool {
    session.dir_of(stack).starts_with(home_of(&session.project, &stack.id))
}

/// Returns what a stack depended on when it was last applied here.
pub fn recorded_edges(project: &Project, id: &StackId) -> BTreeSet<StackId> {
    let Some(record) = record(project, id) else { return BTreeSet::new() };
    let feeding = record.inputs.into_values().map(|(stack, _)| stack);
    record.depends_on.into_iter().chain(feeding).collect()
}

/// Puts a copy in the place of an earlier one, whole or not at all.
pub(super) fn replace(project: &Project, id: &StackId, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let home = home_of(project, id);
    let parent = applied_dir(project);
    atomic_file::create_private_dir(&parent)?;
    let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&parent).map_err(io("write", &parent))?;
    fill(fresh.path())?;
    forget(project, id)?;
    std::fs::rename(fresh.keep(), &home).map_err(io("write", &home))
}

/// Gives the copy of a stack that was renamed its new name; one that cannot go along is forgotten.
pub(super) fn rename(project: &Project, present: &[Stack], old: &StackId, new: &StackId) -> Result<()> {
    rename_home(project, present, old, new).or_else(|_| forget(project, old))
}

fn rename_home(project: &Project, present: &[Stack], old: &StackId, new: &StackId) -> Result<()> {
    let home = home_of(project, old);
    let record = std::fs::read(home.join(RECORD)).ok();
    let record: Option<Record> = record.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let stack = present.iter().find(|stack| stack.id == *new);
    let (Some(record), Some(stack)) = (record, stack) else { return forget(project, old) };
    let (from, to) = (home.join(TREE).join(&record.path), home.join(TREE).join(&stack.path));
    atomic_file::create_private_dir(to.parent().unwrap_or(&home))?;
    std::fs::rename(&from, &to).map_err(io("rename", &from))?;
    let workspace = stack.declared_workspace().map(str::to_owned);
    let record = Record { stack: new.clone(), path: stack.path.clone(), workspace, ..record };
    atomic_file::write(&home.join(RECORD), &serde_json::to_vec_pretty(&record).unwrap_or_default())?;
    forget(project, new)?;
    std::fs::rename(&home, home_of(project, new)).map_err(io("rename", &home))
}

/// Returns the workspaces of a stack's folder that were applied here and that nobody declares any more.
pub(super) fn gone_workspaces(project: &Project, present: &[Stack], stack: &Stack) -> Vec<StackId> {
    let base = format!("{}@", stack.base_id());
    let ids = homes(project).into_iter().filter_map(|home| id_of(&home));
    let beside = ids.filter(|id| id.as_str().starts_with(&base));
    let gone = beside.filter(|id| present.iter().all(|stack| stack.id != *id));
    let is_same_folder = |record: Record| record.workspace.is_some() && record.path == stack.path;
    let mut found: Vec<StackId> = gone.filter(|id| record(project, id).is_some_and(is_same_folder)).collect();
    found.sort();
    found
}

/// Notes that a copy lies beside the state as well.
pub(super) fn mark_published(project: &Project, id: &StackId) -> Result<()> {
    atomic_file::write(&home_of(project, id).join(PUBLISHED), b"")
}

/// Returns the stacks whose copy lies, or lay, beside the state as well.
pub(super) fn published(project: &Project) -> Vec<StackId> {
    let homes = homes(project).into_iter().filter(|home| home.join(PUBLISHED).exists());
    homes.filter_map(|home| id_of(&home)).collect()
}

/// Forgets a stack that was destroyed, here.
pub(super) fn forget(project: &Project, id: &StackId) -> Result<()> {
    let home = home_of(project, id);
    match std::fs::remove_dir_all(&home) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", &home)(error)),
        _ => Ok(()),
    }
}

fn record_of(session: &Session, run: &StackRun, values: BTreeMap<String, Value>) -> Record {
    let settings = stacks::settings_for(&session.project, &run.stack.id);
    let feeding =
        run.inputs.iter().map(|(name, from)| (name.clone(), (from.stack.clone(), from.output.clone())));
    Record {
        stack: run.stack.id.clone(),
        path: run.stack.path.clone(),
        applied_at: session.clock.now(),
        var_files: run.var_files.iter().map(|file| file.display().to_string()).collect(),
        secrets: settings.secrets,
        inputs: feeding.collect(),
        env: run.env.clone(),
        protect: run.protect,
        depends_on: run.stack.depends_on.clone(),
        values,
        workspace: run.stack.declared_workspace().map(str::to_owned),
        workspace_variable: settings.workspace_variable,
    }
}

fn copy_files(session: &Session, run: &StackRun, tree: &Path) -> Result<()> {
    let root = &session.project.root;
    let opened = session.secrets_of(&run.stack.id).map(|secrets| secrets.files.clone()).unwrap_or_default();
    for file in source_files(session, run)? {
        let Ok(below) = file.strip_prefix(root) else { continue };
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // A file that is named like a secret but was not opened as one may be plain.
        let is_plain_secret = is_secret(&name) && !opened.contains(&file);
        let is_small = std::fs::metadata(&file).is_ok_and(|facts| facts.is_file() && facts.len() <= LARGEST);
        if is_small && !is_plain_secret {
            let copy = tree.join(below);
            atomic_file::create_private_dir(copy.parent().unwrap_or(tree))?;
            std::fs::copy(&file, &copy).map_err(io("copy", &file))?;
        }
    }
    Ok(())
}

/// Returns the stacks that are gone from the tree although they were not destroyed.
///
/// One whose state this program keeps and finds without resources is not among them.
pub async fn removed_stacks(project: &Project, present: &[Stack], clock: Clock) -> Result<Vec<RemovedStack>> {
    let known: HashSet<&StackId> = present.iter().map(|stack| &stack.id).collect();
    let mut removed = Vec::new();
    for home in homes(project) {
        let id = id_of(&home).filter(|id| !known.contains(id));
        let Some(found) = id.and_then(|id| read(project, &home, &id)) else { continue };
        if is_gone(project, present, &found)
            && !is_renamed(project, present, &found.stack.id)
            && may_have_resources(project, &found.stack, clock).await
        {
            removed.push(found);
        }
    }
    removed.sort_by(|a, b| a.stack.id.cmp(&b.stack.id));
    Ok(removed)
}

/// Returns whether `infra.yaml` says that a stack of the tree has the state of this one.
pub(super) fn is_renamed(project: &Project, present: &[Stack], id: &StackId) -> bool {
    present.iter().any(|stack| stacks::settings_for(project, &stack.id).was.as_ref() == Some(id))
}

fn homes(project: &Project) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(applied_dir(project)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn read(project: &Project, home: &Path, id: &StackId) -> Option<RemovedStack> {
    let record = parse(&std::fs::read(home.join(RECORD)).ok()?)?;
    let tree = home.join(TREE);
    // A workspace goes away while its folder stays, and with it the state that lies there.
    let is_there = record.workspace.is_some() && has_tofu_files(&project.root.join(&record.path));
    let root = if is_there { project.root.clone() } else { tree };
    // Settings name stacks that are not in the copy, so they are added afterwards.
    let copy = Project { root: root.clone(), stack_settings: Vec::new(), ..project.clone() };
    let name = record.workspace.as_deref();
    let is_base = |stack: &Stack| match name {
        Some(name) => stack.id.in_workspace(name) == *id,
        None => stack.id == *id,
    };
    let mut stack = stacks::discover(&copy).ok()?.stacks.into_iter().find(is_base)?;
    if let Some(name) = name {
        stack = stacks::in_workspace(&stack, name, WorkspaceOrigin::Declared);
    }
    let below = project.relative(&root).to_owned();
    stack.path = below.join(&stack.path);
    stack.modules = stack.modules.iter().map(|module| below.join(module)).collect();
    stack
        .depends_on
        .extend(record.depends_on.iter().chain(record.inputs.values().map(|(stack, _)| stack)).cloned());
    let settings = StackSettings {
        var_files: record.var_files,
        secrets: record.secrets,
        inputs: record
            .inputs
            .into_iter()
            .map(|(name, (stack, output))| (name, OutputRef { stack, output }))
            .collect(),
        env: record.env,
        protect: Some(record.protect),
        workspace_variable: record.workspace_variable,
        ..StackSettings::default()
    };
    Some(RemovedStack { stack, settings, was_at: record.path, applied_at: record.applied_at })
}

/// A folder that still has tofu files became a module or left the root, and a state that another stack
/// has now was moved: destroying either would destroy what lives.
fn is_gone(project: &Project, present: &[Stack], found: &RemovedStack) -> bool {
    let identity =
        |stack: &Stack, path: &Path| stacks::identity(&stack.backend, path, stack.workspace_name());
    let own = identity(&found.stack, &found.was_at);
    let moved = own.is_some() && present.iter().any(|stack| identity(stack, &stack.path) == own);
    let is_workspace = found.stack.workspace.is_some();
    !moved && (is_workspace || !has_tofu_files(&project.root.join(&found.was_at)))
}

fn has_tofu_files(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let endings = [".tf", ".tofu", ".tf.json", ".tofu.json"];
    names.into_iter().any(|name| endings.iter().any(|ending| name.ends_with(ending)))
}

/// Only a state that can be read and has nothing in it is certainly empty.
async fn may_have_resources(project: &Project, stack: &Stack, clock: Clock) -> bool {
    if stack.backend != Backend::Embedded || project.state.url.is_some() {
        return true;
    }
    // Every run asks this, so a bucket is not asked.
    if store_place(project).is_ok_and(|place| place.is_remote()) {
        return true;
    }
    let store = open_store_untried(project, &Environment::default(), clock);
    let (Ok(store), Ok(name)) = (store, state_name(stack)) else { return true };
    // What was renamed or given up on purpose lives on elsewhere, or is nobody's any more.
    if store.status(&name).await.is_ok_and(|status| status.moved.is_some() || status.left_behind) {
        return false;
    }
    match store.read(&name).await {
        Ok(Some(bytes)) => {
            let state: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            state.get("resources").and_then(Value::as_array).is_none_or(|list| !list.is_empty())
        }
        Ok(None) => false,
        Err(_) => true,
    }
}

/// Returns where this checkout keeps what was last applied of a stack.
pub(super) fn kept_copy(project: &Project, id: &StackId) -> PathBuf {
    home_of(project, id)
}

fn applied_dir(project: &Project) -> PathBuf {
    project.infra_dir().join("applied")
}

/// All copies lie in one folder, so that one look tells which there are.
fn home_of(project: &Project, id: &StackId) -> PathBuf {
    applied_dir(project).join(id.file_name())
}

fn id_of(home: &Path) -> Option<StackId> {
    let name = home.file_name()?.to_str().filter(|name| !name.starts_with(".new-"))?;
    let name = name.replace("%2F", "/").replace("%25", "%");
    Some(StackId::of_state_name(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_folder_of_its_own_and_comes_back_from_it() {
        let project = Project::default();

        for id in [".", "01-a/x", "a%2Fb", "ü n/…", "a/b%25c"] {
            let id = StackId::new(id);

            assert_eq!(id_of(&home_of(&project, &id)), Some(id));
        }
    }
}
