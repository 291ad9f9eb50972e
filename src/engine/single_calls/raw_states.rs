//! States as they are, for whoever wants what is in them: read where they lie, opened, without a provider.
//!
//! tofu is started only where nothing else reaches a state, or opens it. What cannot be read is an error
//! that names its stack, never a state without anything in it. Begin at [`read_states`].

use futures::StreamExt as _;
use serde_json::Value;

use crate::backends::StateHome;
use crate::engine::session::Session;
use crate::engine::state_check::require_states;
use crate::engine::state_content::{open_state, pull_alone, pull_state};
use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackId, quoted};
use crate::stacks;

/// How many states are read together.
const TOGETHER: usize = 8;

/// The format of states that tofu has written since its first version.
const VERSION: u64 = 4;

/// Returns the states of those stacks that have one.
pub async fn read_states(session: &Session, ids: &[StackId]) -> Result<Vec<(StackId, Value)>> {
    require_states(session, ids).await?;
    let reads = futures::stream::iter(ids).map(async |id| (id, read_state(session, id).await));
    let read: Vec<(&StackId, Result<Option<Value>>)> = reads.buffered(TOGETHER).collect().await;
    let (mut states, mut failed) = (Vec::new(), Vec::new());
    for (id, state) in read {
        match state {
            Ok(state) => states.extend(state.map(|state| (id.clone(), state))),
            Err(error) => failed.push(named(id, error)),
        }
    }
    let mut failed = failed.into_iter();
    match failed.next() {
        None => Ok(states),
        Some(first) => Err(failed.fold(first, |error, other| error.detail(other.message()))),
    }
}

/// Says of an error whose state it is about.
fn named(id: &StackId, error: Error) -> Error {
    if error.message().contains(&format!("`{id}`")) {
        return error;
    }
    let named =
        Error::new(error.kind(), format!("the state of `{id}` cannot be read")).detail(error.message());
    let named = error.body().into_iter().fold(named, Error::detail);
    error.hints().iter().fold(named, |named, hint| named.hint(hint.clone()))
}

/// Returns the state of a stack; none if there is none.
async fn read_state(session: &Session, id: &StackId) -> Result<Option<Value>> {
    let stack = session.stack(id)?;
    let home = session.home_of(stack)?;
    let bytes = if home.is_readable() && is_settled(session, stack)? {
        match home.read().await? {
            Some(bytes) => open_state(session, id, &bytes).await?,
            None => return Ok(None),
        }
    } else if ["local", "remote", "cloud"].contains(&stack.backend.kind()) {
        // Their paths count from the folder of the stack, or their workspaces are not tofu's own.
        pull_state(session, id).await?
    } else {
        pull_alone(session, stack).await?
    };
    parsed(id, &bytes).map_err(|error| error.hint(way_back(id, &home)))
}

/// Says where a state may be found that is none any more.
fn way_back(id: &StackId, home: &StateHome) -> String {
    match home {
        StateHome::File(file) => format!("tofu keeps the one before beside it: `{}.backup`", file.display()),
        home if home.lists_versions() => {
            format!("an earlier version may be one: `infra state history {}`", quoted(id.as_str()))
        }
        _ => "look for an earlier version where it is kept".to_owned(),
    }
}

/// Returns whether the block of a stack, with what `init` noted, says all of where its state lies.
fn is_settled(session: &Session, stack: &Stack) -> Result<bool> {
    let Backend::Configured { kind, attributes } = &stack.backend else {
        return match stack.backend {
            Backend::Unknown => Err(unknown(stack)),
            _ => Ok(true),
        };
    };
    let is_open = attributes.values().any(Option::is_none);
    let is_whole = !is_open && stacks::backend_config(&session.project, stack)?.is_empty();
    Ok(is_whole || session.noted_backend(stack).as_ref() == Some(kind))
}

fn unknown(stack: &Stack) -> Error {
    let error = Error::invalid(format!("it is not known where the state of `{}` is", stack.id));
    stack.file_remarks().fold(error, |error, remark| error.detail(remark.clone()))
}

/// Returns a state as data; what is no state is an error.
fn parsed(id: &StackId, bytes: &[u8]) -> Result<Option<Value>> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let state: Option<Value> = serde_json::from_slice(bytes).ok();
    let version = state.as_ref().and_then(|state| state["version"].as_u64());
    match (state, version) {
        (Some(state), Some(VERSION)) if state["resources"].is_array() || state["resources"].is_null() => {
            Ok(Some(state))
        }
        (Some(_), Some(other)) if other != VERSION => {
            Err(Error::invalid(format!("the state of `{id}` has the format {other}, and {VERSION} is read"))
                .hint(format!("let tofu write it anew: `infra apply {}`", quoted(id.as_str()))))
        }
        _ => Err(Error::invalid(format!("what lies where the state of `{id}` should be is no state"))),
    }
}
