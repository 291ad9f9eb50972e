//! Stacks that are gone from the tree although they were not destroyed, as they were last applied.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use super::copies::{RECORD, TREE, homes, id_of, parse};
use crate::backends::{open_store_untried, state_name, store_place};
use crate::error::Result;
use crate::model::{
    Backend, Clock, Environment, OutputRef, Project, Stack, StackId, StackSettings, WorkspaceOrigin,
};
use crate::stacks;

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
pub fn is_renamed(project: &Project, present: &[Stack], id: &StackId) -> bool {
    present.iter().any(|stack| stacks::settings_for(project, &stack.id).was.as_ref() == Some(id))
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
