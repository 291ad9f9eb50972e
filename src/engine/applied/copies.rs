//! The copies of what was applied, on this machine: one folder a stack below `.infra/applied`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::atomic_file;
use crate::engine::session::Session;
use crate::error::{Result, io};
use crate::model::{OutputRef, Project, Stack, StackId};

pub(super) const RECORD: &str = "applied.json";

pub(super) const TREE: &str = "tree";

/// Marks a copy that lies beside the state as well.
const PUBLISHED: &str = "published";

/// What `infra.yaml` said about the stack: names and places, never values of secrets.
#[derive(Debug, Deserialize, Serialize)]
pub struct Record {
    pub stack: StackId,
    pub path: PathBuf,
    pub applied_at: Timestamp,
    pub var_files: Vec<String>,
    pub secrets: Vec<String>,
    pub inputs: BTreeMap<String, (StackId, String)>,
    pub env: BTreeMap<String, String>,
    pub protect: bool,
    /// Everything it depended on by an edge.
    #[serde(default)]
    pub depends_on: BTreeSet<StackId>,
    /// The values of its inputs; never a sensitive one.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
    /// The workspace that `infra.yaml` declared.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The variable that got its name.
    #[serde(default)]
    pub workspace_variable: Option<String>,
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
    pub fn is_fed_like(&self, other: &Self) -> bool {
        self.inputs == other.inputs && self.values == other.values && self.depends_on == other.depends_on
    }
}

/// Returns what was noted of a stack on this machine.
pub fn recorded(project: &Project, id: &StackId) -> Option<Record> {
    parse(&std::fs::read(home_of(project, id).join(RECORD)).ok()?)
}

pub fn parse(bytes: &[u8]) -> Option<Record> {
    serde_json::from_slice(bytes).ok()
}

/// Returns whether something of a stack was applied here that was not destroyed since.
pub fn is_remembered(project: &Project, id: &StackId) -> bool {
    home_of(project, id).exists()
}

/// Returns whether a stack is run from the copy of what was applied: its folder is gone.
pub fn is_copy(session: &Session, stack: &Stack) -> bool {
    session.dir_of(stack).starts_with(home_of(&session.project, &stack.id))
}

/// Returns what a stack depended on when it was last applied here.
pub fn recorded_edges(project: &Project, id: &StackId) -> BTreeSet<StackId> {
    let Some(record) = recorded(project, id) else { return BTreeSet::new() };
    let feeding = record.inputs.into_values().map(|(stack, _)| stack);
    record.depends_on.into_iter().chain(feeding).collect()
}

/// Puts a copy in the place of an earlier one, whole or not at all.
pub(super) fn replace_copy(
    project: &Project,
    id: &StackId,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let home = home_of(project, id);
    let parent = applied_dir(project);
    atomic_file::create_private_dir(&parent)?;
    let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&parent).map_err(io("write", &parent))?;
    fill(fresh.path())?;
    forget_copy(project, id)?;
    std::fs::rename(fresh.keep(), &home).map_err(io("write", &home))
}

/// Gives the copy of a stack that was renamed its new name; one that cannot go along is forgotten.
pub fn rename_copy(project: &Project, present: &[Stack], old: &StackId, new: &StackId) -> Result<()> {
    rename_home(project, present, old, new).or_else(|_| forget_copy(project, old))
}

fn rename_home(project: &Project, present: &[Stack], old: &StackId, new: &StackId) -> Result<()> {
    let home = home_of(project, old);
    let record = std::fs::read(home.join(RECORD)).ok();
    let record: Option<Record> = record.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let stack = present.iter().find(|stack| stack.id == *new);
    let (Some(record), Some(stack)) = (record, stack) else { return forget_copy(project, old) };
    let (from, to) = (home.join(TREE).join(&record.path), home.join(TREE).join(&stack.path));
    atomic_file::create_private_dir(to.parent().unwrap_or(&home))?;
    std::fs::rename(&from, &to).map_err(io("rename", &from))?;
    let workspace = stack.declared_workspace().map(str::to_owned);
    let record = Record { stack: new.clone(), path: stack.path.clone(), workspace, ..record };
    atomic_file::write(&home.join(RECORD), &serde_json::to_vec_pretty(&record).unwrap_or_default())?;
    forget_copy(project, new)?;
    std::fs::rename(&home, home_of(project, new)).map_err(io("rename", &home))
}

/// Returns the workspaces of a stack's folder that were applied here and that nobody declares any more.
pub fn gone_workspaces(project: &Project, present: &[Stack], stack: &Stack) -> Vec<StackId> {
    let base = format!("{}@", stack.base_id());
    let ids = homes(project).into_iter().filter_map(|home| id_of(&home));
    let beside = ids.filter(|id| id.as_str().starts_with(&base));
    let gone = beside.filter(|id| present.iter().all(|stack| stack.id != *id));
    let is_same_folder = |record: Record| record.workspace.is_some() && record.path == stack.path;
    let mut found: Vec<StackId> =
        gone.filter(|id| recorded(project, id).is_some_and(is_same_folder)).collect();
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
pub fn forget_copy(project: &Project, id: &StackId) -> Result<()> {
    let home = home_of(project, id);
    match std::fs::remove_dir_all(&home) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", &home)(error)),
        _ => Ok(()),
    }
}

pub(super) fn homes(project: &Project) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(applied_dir(project)) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

/// Returns where this checkout keeps what was last applied of a stack.
pub(super) fn kept_copy(project: &Project, id: &StackId) -> PathBuf {
    home_of(project, id)
}

fn applied_dir(project: &Project) -> PathBuf {
    project.infra_dir().join("applied")
}

/// All copies lie in one folder, so that one look tells which there are.
pub fn home_of(project: &Project, id: &StackId) -> PathBuf {
    applied_dir(project).join(id.file_name())
}

pub(super) fn id_of(home: &Path) -> Option<StackId> {
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
