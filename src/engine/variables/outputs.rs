//! The outputs of a stack, read once for all that want them.

use serde_json::Value;

use super::early_values::with_early_values;
use crate::backends::StateHome;
use crate::engine::calls::{Stop, hints_about, last_words};
use crate::engine::run::WhenToInit;
use crate::engine::session::Session;
use crate::engine::stack::{bare_run, init_stack};
use crate::engine::state_check::require_states;
use crate::engine::state_content::open_state;
use crate::error::{Error, Result};
use crate::model::{OutputRef, StackId};
use crate::process;
use crate::tofu::call;

/// Returns all outputs of a stack as `tofu output -json` gives them.
pub async fn outputs_of(session: &Session, id: &StackId) -> Result<Value, Stop> {
    if let Some(outputs) = session.outputs.borrow().get(id) {
        return Ok(outputs.clone());
    }
    let stack = session.stack(id)?;
    // Several stacks may want the same outputs at once; the first reads them for all.
    let pending = session.reading_of(id);
    let _reading = pending.lock().await;
    if let Some(outputs) = session.outputs.borrow().get(id) {
        return Ok(outputs.clone());
    }
    require_states(session, std::slice::from_ref(id)).await?;
    let upstream = bare_run(session, stack);
    init_stack(session, &upstream, WhenToInit::Needed, &[]).await?;
    let base = with_early_values(session, &upstream, session.call(stack, &upstream.env)?).await;
    let captured = process::capture(call::outputs(base), &session.interrupts).await?;
    if session.interrupts.any() {
        return Err(Stop::Interrupted);
    }
    if !captured.status.success() {
        let error = Error::failed(format!("cannot read the outputs of `{id}`"));
        let hints = hints_about(session, id, &captured.stderr);
        let said = last_words(session, &captured);
        return Err(hints.into_iter().fold(error.detail(said), Error::hint).into());
    }
    let outputs: Value = serde_json::from_slice(captured.stdout.unmasked())
        .map_err(|e| Error::failed(format!("the outputs of `{id}` are no JSON")).because(e))?;
    session.outputs.borrow_mut().insert(id.clone(), outputs.clone());
    Ok(outputs)
}

/// How many earlier versions of a state are looked at.
const EARLIER: usize = 3;

/// Returns what an output was before: a plan shows the old value beside the new one, and the state
/// of the stack that took it does not know that it is sensitive.
pub(super) async fn earlier_values(session: &Session, from: &OutputRef) -> Vec<Value> {
    let Ok(stack) = session.stack(&from.stack) else { return Vec::new() };
    let Ok(home @ StateHome::Store { .. }) = session.home_of(stack) else { return Vec::new() };
    let Ok(Some(kept)) = home.versions().await else { return Vec::new() };
    let mut values = Vec::new();
    for version in kept.versions.iter().rev().take(EARLIER) {
        let Ok(Some(bytes)) = home.version(version.number).await else { continue };
        let Ok(bytes) = open_state(session, &from.stack, &bytes).await else { continue };
        let state: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        values.extend(state.pointer(&format!("/outputs/{}/value", from.output)).cloned());
    }
    values
}
