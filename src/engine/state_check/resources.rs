//! How many resources the state of a stack has, asked without tofu wherever that is possible.
//!
//! Begin at [`resources_of`]; [`may_have_resources`] is the glance for stacks that only are named.

use serde_json::Value;
use zeroize::Zeroizing;

use crate::backends::{StateHome, state_name};
use crate::engine::applied::is_remembered;
use crate::engine::session::Session;
use crate::engine::state_content::{open_with_passphrase, pull_state};
use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackError};
use crate::tofu;

/// Returns how many resources a stack has; data sources are none.
pub async fn resources_of(session: &Session, stack: &Stack) -> Result<usize> {
    let read = match session.home_of(stack)? {
        StateHome::OnlyTofu(_) => None,
        home => home.read().await.ok(),
    };
    let state = match read {
        Some(None) if session.known_state(&stack.id).is_some() => return Err(elsewhere(stack)),
        Some(None) => return Ok(0),
        Some(Some(bytes)) => open_with_passphrase(session, &stack.id, &bytes).ok(),
        None => None,
    };
    // What cannot be read or opened here may still be tofu's to read.
    let state = match state {
        Some(state) => state,
        None => pull_state(session, &stack.id).await?,
    };
    count(&state).ok_or_else(|| Error::invalid(format!("the state of `{}` is no JSON", stack.id)))
}

fn elsewhere(stack: &Stack) -> Error {
    Error::invalid(format!("the state of `{}` is not where it should be", stack.id))
        .code(StackError::STATE_ELSEWHERE)
}

/// Returns whether a stack has resources as far as a glance tells, which starts no tofu, opens no
/// secret and asks no backend that needs credentials of its own.
pub async fn may_have_resources(session: &Session, stack: &Stack) -> bool {
    let is_near = matches!(&stack.backend, Backend::Embedded | Backend::None)
        || matches!(&stack.backend, Backend::Configured { kind, .. } if kind == "local");
    if !is_near {
        return false;
    }
    match read_nearby(session, stack).await {
        Ok(Some(bytes)) if tofu::is_encrypted(&bytes) => is_remembered(&session.project, &stack.id),
        Ok(Some(bytes)) => count(&bytes).is_some_and(|resources| resources > 0),
        Ok(None) | Err(_) => false,
    }
}

/// Reads a state with the credentials of the stacks that are chosen: a server locks out who comes
/// often without any.
async fn read_nearby(session: &Session, stack: &Stack) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let kept = match stack.backend {
        Backend::Embedded => session.home_named(&state_name(stack)?)?,
        _ => None,
    };
    kept.map_or_else(|| session.home_of(stack), Ok)?.read().await
}

/// Counts the instances of managed resources; an empty state has none.
fn count(state: &[u8]) -> Option<usize> {
    if state.iter().all(u8::is_ascii_whitespace) {
        return Some(0);
    }
    let state: Value = serde_json::from_slice(state).ok()?;
    let Some(resources) = state.as_object()?.get("resources") else { return Some(0) };
    let managed = resources.as_array()?.iter().filter(|resource| resource["mode"] != "data");
    Some(managed.map(|resource| resource["instances"].as_array().map_or(0, Vec::len)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_managed_resources_count_and_data_sources_do_not() {
        let state = br#"{"resources":[
            {"mode":"managed","instances":[{},{}]},
            {"mode":"managed","instances":[]},
            {"mode":"data","instances":[{}]}]}"#;

        assert_eq!(count(state), Some(2));
        assert_eq!(count(b"\n"), Some(0));
        assert_eq!(count(br#"{"version":4}"#), Some(0));
        assert_eq!(count(b"no state"), None);
        assert_eq!(count(br#"{"resources":1}"#), None);
    }
}
