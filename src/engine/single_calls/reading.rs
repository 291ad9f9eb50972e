//! Single looks at a stack: its outputs, its state or a plan as text, the addresses in its state.

use std::path::Path;

use serde_json::{Map, Value};

use crate::engine::calls::{check, stopped, successful};
use crate::engine::plan::hide_old_values;
use crate::engine::session::Session;
use crate::engine::stack::{bare_run, prepared};
use crate::engine::variables::{outputs_of, resolve_inputs, with_early_values};
use crate::error::Result;
use crate::model::{Safe, Stack, StackId, StackRun};
use crate::process::Invocation;
use crate::tofu::call;
use crate::{process, stacks};

/// Returns the outputs of stacks, by stack and name, sensitive values included.
pub async fn read_outputs(session: &Session, chosen: &[StackId]) -> Result<Map<String, Value>> {
    let mut outputs = Map::new();
    for id in chosen {
        let of_stack = outputs_of(session, id).await.map_err(|stop| stopped(id, stop))?;
        outputs.insert(id.to_string(), of_stack);
    }
    Ok(outputs)
}

/// Returns a state, or a saved plan, as tofu writes it for people.
pub async fn read_text(session: &Session, id: &StackId, plan: Option<&Path>) -> Result<Safe> {
    let stack = session.stack(id)?;
    let base = call_showing(session, stack, plan).await?;
    let has_secrets = has_secrets(session, stack).await;
    if let Some(plan) = plan.filter(|_| has_secrets) {
        hide_old_values(session, id, base.clone(), plan).await?;
    }
    let captured = successful(session, id, call::show(base, plan)).await?;
    Ok(captured.stdout.safe(&session.mask()))
}

/// Prepares a stack and returns the beginning of a call that can show its state, or a plan.
pub(super) async fn call_showing(
    session: &Session,
    stack: &Stack,
    plan: Option<&Path>,
) -> Result<Invocation> {
    let base = prepared(session, stack).await?;
    let Some(plan) = plan else { return Ok(base) };
    let run = bare_run(session, stack);
    Ok(with_early_values(session, &run, session.call_reading_plan(stack, &run.env, plan)?).await)
}

/// Hides what a stack takes from other stacks, and returns whether it is given anything secret.
///
/// What cannot be had, such as the output of a stack that is not applied, cannot be shown either.
pub async fn has_secrets(session: &Session, stack: &Stack) -> bool {
    let inputs = stacks::resolve_inputs(&session.project, &session.stacks, &stack.id).unwrap_or_default();
    let run = StackRun { inputs, ..bare_run(session, stack) };
    let inputs = resolve_inputs(session, &run).await.unwrap_or_default();
    inputs.sensitive || session.has_secrets(&stack.id)
}

/// Returns the addresses in a state; a stack without a state has none.
pub async fn read_addresses(session: &Session, id: &StackId, extra: &[String]) -> Result<Vec<Safe>> {
    let base = prepared(session, session.stack(id)?).await?;
    let call = call::state_list(base, extra);
    let captured = process::capture(call, &session.interrupts).await?;
    if !captured.status.success() && captured.stderr.mentions("No state file was found") {
        return Ok(Vec::new());
    }
    check(session, id, &captured)?;
    Ok(captured.stdout.safe_lines(&session.mask()))
}

/// Releases a lock in a backend that this program does not serve.
pub async fn release_foreign_lock(session: &Session, stack: &Stack, lock_id: &str) -> Result<()> {
    let base = prepared(session, stack).await?;
    successful(session, &stack.id, call::force_unlock(base, lock_id)).await.map(|_| ())
}
