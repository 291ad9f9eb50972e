//! The state that a folder had in another workspace of a backend of its own: in the one that every
//! backend begins with, before `infra.yaml` gave it workspaces, or in one that has another name now.
//!
//! Where infra keeps the states a stack in a workspace is a rename like any other. Begin at
//! [`former_in_backend`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::seen_state::described;
use crate::backends::{StateFacts, StateHome};
use crate::engine::applied::{gone_workspaces, is_renamed, rename_copy};
use crate::engine::plan::SavedPlans;
use crate::engine::session::Session;
use crate::engine::state_content::pull_state;
use crate::engine::state_work::push_state;
use crate::error::{Error, Result};
use crate::model::{Stack, StackError, StackId, StackWorkspace, quoted};
use crate::stacks;
use crate::tofu::call::PushMode;

/// Returns the former id under which the state of a stack lies whose backend block names a place of its own.
pub(super) async fn former_in_backend(session: &Session, stack: &Stack) -> Result<Option<StackId>> {
    let was = stacks::settings_for(&session.project, &stack.id).was;
    let gone = gone_workspaces(&session.project, &session.stacks, stack);
    let is_declared = stack.declared_workspace().is_some();
    let may_be_former = is_declared || (stack.workspace.is_none() && (was.is_some() || !gone.is_empty()));
    if !may_be_former || !stack.backend.has_workspaces() || facts_at(session.home_of(stack)?).await.is_some()
    {
        return Ok(None);
    }
    if let Some(was) = was.filter(|was| is_free(session, stack, workspace_of(was)))
        && state_in(session, stack, workspace_of(&was)).await?.is_some()
    {
        return Ok(Some(was));
    }
    if session.project.begun.contains(&stack.id) {
        return Ok(None);
    }
    let mut former: BTreeSet<StackId> = gone.iter().cloned().collect();
    if is_declared {
        former.insert(stack.base_id());
        former.extend(undeclared_in_backend(session, stack).await);
    }
    let mut left = Vec::new();
    for old in former {
        // What `was` names has its stack, and this one is new.
        let is_asked = is_free(session, stack, workspace_of(&old))
            && !is_renamed(&session.project, &session.stacks, &old);
        let facts = if is_asked { state_in(session, stack, workspace_of(&old)).await? } else { None };
        if let Some(facts) = facts
            && !lives_on(session, stack, &facts).await?
        {
            left.push((old, facts));
        }
    }
    if left.is_empty() { Ok(None) } else { Err(left_behind(stack, &left, &gone)) }
}

/// Returns the workspaces that the backend has and nobody declares: another checkout may have applied one
/// that has a new name by now.
async fn undeclared_in_backend(session: &Session, stack: &Stack) -> Vec<StackId> {
    let known = session.workspaces_of(stack).await.ok().flatten().unwrap_or_default();
    let others = known.into_iter().filter(|name| name != StackWorkspace::DEFAULT);
    let others = others.filter(|name| StackWorkspace::is_name(name) && is_free(session, stack, name));
    others.map(|name| stack.base_id().in_workspace(&name)).collect()
}

/// Returns the workspace that an id names; without one it is what every backend begins with.
pub fn workspace_of(id: &StackId) -> &str {
    id.as_str().rsplit_once('@').map_or(StackWorkspace::DEFAULT, |(_, name)| name)
}

/// Returns the stacks of a folder.
fn siblings<'a>(session: &'a Session, stack: &'a Stack) -> impl Iterator<Item = &'a Stack> {
    session.stacks.iter().filter(|other| other.path == stack.path)
}

/// Returns whether no stack of the folder runs in a workspace.
fn is_free(session: &Session, stack: &Stack, name: &str) -> bool {
    siblings(session, stack).all(|other| other.workspace_name().unwrap_or(StackWorkspace::DEFAULT) != name)
}

/// Returns what the state of a stack's folder is in another workspace, if there is one.
async fn state_in(session: &Session, stack: &Stack, name: &str) -> Result<Option<StateFacts>> {
    Ok(facts_at(session.home_in_workspace(stack, name)?).await)
}

/// Returns whether a stack of the folder has a state already.
async fn lives_on(session: &Session, stack: &Stack, left: &StateFacts) -> Result<bool> {
    for other in siblings(session, stack) {
        if facts_at(session.home_of(other)?).await.is_some_and(|facts| facts.lineage == left.lineage) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns what a state is that has anything in it; `None` where only tofu can tell.
async fn facts_at(home: StateHome) -> Option<StateFacts> {
    if !home.is_readable() {
        return None;
    }
    let bytes = home.read().await.ok().flatten()?;
    let is_sealed = serde_json::from_slice::<Value>(&bytes).is_ok_and(|state| !state["resources"].is_array());
    StateFacts::of(&bytes).filter(|facts| facts.resources > 0 || is_sealed)
}

fn left_behind(stack: &Stack, left: &[(StackId, StateFacts)], gone: &[StackId]) -> Error {
    let id = &stack.id;
    let names = left.iter().map(|(old, _)| format!("`{old}`")).collect::<Vec<_>>().join(", ");
    let error = Error::invalid(format!("`{id}` has no state, but its folder has one of before: {names}"))
        .code(StackError::STACK_RENAMED);
    let error = left.iter().fold(error, |error, (old, facts)| error.fact(old.to_string(), described(facts)));
    let error = error.detail("as a new stack it would make everything of it a second time");
    let error = left.iter().fold(error, |error, (old, _)| with_ways(error, stack, old, gone.contains(old)));
    match stack.declared_workspace() {
        Some(_) => {
            let id = quoted(id.as_str());
            error.hint(format!("if it is a new one beside that, say so: `infra plan {id} --create`"))
        }
        None => error,
    }
}

/// Adds what a person can say about a state of before, which may have been applied here.
fn with_ways(error: Error, stack: &Stack, old: &StackId, is_known_here: bool) -> Error {
    let was = match stack.declared_workspace() {
        Some(name) => format!("`{name}: {{ was: \"{old}\" }}` under `workspaces`"),
        None => format!("`was: \"{old}\"` of `{}`", stack.id),
    };
    let error = error.hint(format!("if it goes on with that state, say so in infra.yaml: {was}"));
    let name = workspace_of(old);
    match is_known_here {
        true => error
            .hint(format!("if that is no longer needed: `infra destroy --removed {}`", quoted(old.as_str()))),
        false => error.hint(format!("or let it go on beside it: `{name}: {{}}` under `workspaces`")),
    }
}

/// Moves the state of before into the workspace of a stack; what is left of it has no resources.
pub async fn move_into_workspace(session: &Session, stack: &Stack, was: &StackId) -> Result<()> {
    let id = &stack.id;
    let state = pull_state(session, id).await?;
    // What tofu knows by the name of the workspace is another thing here: no plan of before still fits.
    let (moved, emptied) = (next_version(&state, Content::Kept)?, next_version(&state, Content::Gone)?);
    session.former_names.borrow_mut().remove(id);
    if let Err(error) = push_state(session, id, &moved, PushMode::Careful).await {
        session.former_names.borrow_mut().insert(id.clone(), was.clone());
        return Err(error);
    }
    session.former_names.borrow_mut().insert(id.clone(), was.clone());
    let emptied = push_state(session, id, &emptied, PushMode::Forced).await;
    session.former_names.borrow_mut().remove(id);
    emptied?;
    rename_copy(&session.project, &session.stacks, was, id)?;
    SavedPlans::at(session.project.plans_dir()).remove(was)
}

/// What the next version of a state has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Content {
    Kept,
    Gone,
}

/// Returns the next version of a state.
fn next_version(state: &[u8], content: Content) -> Result<Vec<u8>> {
    let broken = |error| Error::invalid("the state is no JSON").because(error);
    let mut state: Value = serde_json::from_slice(state).map_err(broken)?;
    state["serial"] = Value::from(state["serial"].as_u64().unwrap_or_default() + 1);
    if content == Content::Gone {
        (state["resources"], state["outputs"]) =
            (Value::Array(Vec::new()), Value::Object(Default::default()));
    }
    serde_json::to_vec(&state).map_err(broken)
}
