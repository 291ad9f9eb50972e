//! The state that a folder had before `infra.yaml` gave it workspaces, in a backend of its own:
//! it lies in the workspace that every backend begins with, and none of the new ones has it.
//!
//! Where infra keeps the states a stack in a workspace is a rename like any other. Begin at
//! [`former_in_default`].

use serde_json::Value;

use super::applied::is_renamed;
use super::seen_state::described;
use super::session::Session;
use super::state_edit::{pull_state, push_state};
use crate::backends::{StateFacts, StateHome};
use crate::error::{Error, Result};
use crate::model::{Stack, StackError, StackId, StackWorkspace};
use crate::stacks;
use crate::tofu::call::PushMode;

/// Returns the former id under which the state of a stack lies whose backend block names a place of its own.
pub(super) async fn former_in_default(session: &Session, stack: &Stack) -> Result<Option<StackId>> {
    let siblings = || session.stacks.iter().filter(|other| other.path == stack.path);
    let has_default = siblings().any(|other| other.workspace_name() == Some(StackWorkspace::DEFAULT));
    let is_new_kind = stack.declared_workspace().is_some() && stack.backend.has_workspaces();
    if !is_new_kind || has_default || facts_at(session.home_of(stack)?).await.is_some() {
        return Ok(None);
    }
    let Some(left) = facts_at(session.default_home_of(stack)?).await else { return Ok(None) };
    let base = stack.base_id();
    if stacks::settings_for(&session.project, &stack.id).was.as_ref() == Some(&base) {
        return Ok(Some(base));
    }
    // Then this one is new.
    if is_renamed(&session.project, &session.stacks, &base) {
        return Ok(None);
    }
    for other in siblings() {
        if facts_at(session.home_of(other)?).await.is_some_and(|facts| facts.lineage == left.lineage) {
            return Ok(None);
        }
    }
    Err(left_behind(stack, &base, &left))
}

/// Returns what a state is that has anything in it; nothing where only tofu can tell.
async fn facts_at(home: StateHome) -> Option<StateFacts> {
    if !home.is_readable() {
        return None;
    }
    let bytes = home.read().await.ok().flatten()?;
    let is_sealed = serde_json::from_slice::<Value>(&bytes).is_ok_and(|state| !state["resources"].is_array());
    StateFacts::of(&bytes).filter(|facts| facts.resources > 0 || is_sealed)
}

fn left_behind(stack: &Stack, base: &StackId, left: &StateFacts) -> Error {
    let name = stack.workspace_name().unwrap_or_default();
    Error::invalid(format!("`{}` has no state, but `{base}` has one of before it had workspaces", stack.id))
        .code(StackError::STACK_RENAMED)
        .fact(base.to_string(), described(left))
        .detail("as new stacks its workspaces would make everything of it a second time")
        .hint(format!("say in infra.yaml whose it is: `{name}: {{ was: \"{base}\" }}` under `workspaces`"))
        .hint("or let it go on beside them: `default: {}` under `workspaces`")
}

/// Moves the state of before into the workspace of a stack; what is left of it has no resources.
pub(super) async fn move_into_workspace(session: &Session, stack: &Stack, was: &StackId) -> Result<()> {
    let id = &stack.id;
    let state = pull_state(session, id).await?;
    session.former_names.borrow_mut().remove(id);
    if let Err(error) = push_state(session, id, &state, PushMode::Careful).await {
        session.former_names.borrow_mut().insert(id.clone(), was.clone());
        return Err(error);
    }
    session.former_names.borrow_mut().insert(id.clone(), was.clone());
    let emptied = push_state(session, id, &without_resources(&state)?, PushMode::Forced).await;
    session.former_names.borrow_mut().remove(id);
    emptied.map(drop)
}

/// Returns the next version of a state, with nothing in it.
fn without_resources(state: &[u8]) -> Result<Vec<u8>> {
    let broken = |error| Error::invalid("the state is no JSON").because(error);
    let mut state: Value = serde_json::from_slice(state).map_err(broken)?;
    state["serial"] = Value::from(state["serial"].as_u64().unwrap_or_default() + 1);
    (state["resources"], state["outputs"]) = (Value::Array(Vec::new()), Value::Object(Default::default()));
    serde_json::to_vec(&state).map_err(broken)
}
