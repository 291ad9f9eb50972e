//! What the files do not tell: the repository around them, and the states in folders. Two calls of git
//! at most, none of tofu, nothing over the network.

use std::path::Path;

use crate::backends::{StateFacts, open_store_untried, read_infra_lock, store_place};
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::lint::{IgnoredPaths, Surroundings};
use crate::model::LockFile;
use crate::model::{Backend, LintRule, Project, Stack, StackId};
use crate::process::Git;
use crate::state::{StateName, StateStore, StorePlace};

/// The repository around a project.
pub(super) struct Repository {
    git: Git,
}

impl Repository {
    /// Finds it.
    pub(super) fn around(project: &Project, context: &Context) -> Option<Self> {
        Some(Self { git: Git::around(&project.root, &context.env, &context.interrupts)? })
    }

    /// Returns its folder.
    pub(super) fn top(&self) -> &Path {
        self.git.top()
    }

    /// Returns the way from there to the project.
    pub(super) fn below(&self) -> &Path {
        self.git.below()
    }
}

/// Looks at everything that rules which are on ask about.
pub(super) async fn look(
    project: &Project,
    stacks: &[Stack],
    repository: Option<&Repository>,
    context: &Context,
) -> Surroundings {
    let mut surroundings =
        Surroundings { ignored: ignored(project, repository).await, ..Surroundings::default() };
    if !project.lint.is_on(LintRule::StateLockMissing) || project.state.lock_file == LockFile::Off {
        return surroundings;
    }
    match unlocked(project, stacks, context).await {
        Ok(unlocked) => surroundings.unlocked = unlocked,
        Err(error) => surroundings.lock_fault = Some((line_of(&error), words_of(&error))),
    }
    surroundings
}

async fn ignored(project: &Project, repository: Option<&Repository>) -> IgnoredPaths {
    let asked = [LintRule::PlaintextSecret, LintRule::LockFileCommitted];
    match repository {
        Some(repository) if asked.into_iter().any(|rule| project.lint.is_on(rule)) => {
            IgnoredPaths::new(repository.git.ignored().await.unwrap_or_default())
        }
        _ => IgnoredPaths::default(),
    }
}

/// Returns the stacks with a state in a folder of which `infra.lock` does not know.
async fn unlocked(project: &Project, stacks: &[Stack], context: &Context) -> Result<Vec<StackId>> {
    let known = read_infra_lock(project)?;
    let Ok(place) = store_place(project) else { return Ok(Vec::new()) };
    let is_there = matches!(&place, StorePlace::Folder(folder) if folder.is_dir());
    if project.state.url.is_some() || !is_there {
        return Ok(Vec::new());
    }
    // Opened as it is: nothing is tried out, nothing is made. What it does not tell, runs will.
    let Ok(store) = open_store_untried(project, &context.env, context.clock) else { return Ok(Vec::new()) };
    let store = store.of_project(project.is_named.then(|| project.name.clone()));
    let unknown = stacks
        .iter()
        .filter(|stack| stack.backend == Backend::Embedded && !known.states.contains_key(&stack.id));
    let mut found = Vec::new();
    for stack in unknown {
        if has_state(&store, &stack.id).await {
            found.push(stack.id.clone());
        }
    }
    Ok(found)
}

/// Returns whether a stack has a state with anything in it; one that only tofu can open counts.
async fn has_state(store: &StateStore, id: &StackId) -> bool {
    let Ok(name) = StateName::parse(&id.state_name()) else { return false };
    let Ok(Some(bytes)) = store.read(&name).await else { return false };
    StateFacts::of(&bytes).is_some_and(|facts| facts.resources > 0) || has_more(&bytes)
}

fn has_more(bytes: &[u8]) -> bool {
    let Ok(state) = serde_json::from_slice::<serde_json::Value>(bytes) else { return false };
    let has_outputs = state["outputs"].as_object().is_some_and(|outputs| !outputs.is_empty());
    has_outputs || state.get("encrypted_data").is_some()
}

fn line_of(error: &Error) -> usize {
    let parts = error.place().unwrap_or_default().split(':').filter_map(|part| part.parse().ok());
    parts.into_iter().next().unwrap_or(1)
}

fn words_of(error: &Error) -> String {
    let body = error.body().into_iter().filter(|line| !line.starts_with("at "));
    let words = std::iter::once(error.message().to_owned()).chain(body).collect::<Vec<_>>().join("; ");
    match error.hints().first() {
        Some(hint) => format!("{words} ({hint})"),
        None => words,
    }
}
