//! A stack that is ready for a call: initialised where that is needed, with the variables that are evaluated early.

use super::init::init_stack;
use crate::engine::calls::stopped;
use crate::engine::run::WhenToInit;
use crate::engine::session::Session;
use crate::engine::variables::with_early_values;
use crate::error::Result;
use crate::model::{Stack, StackRun};
use crate::process::Invocation;
use crate::stacks;

/// Returns a run of a stack with nothing but its own environment.
pub fn bare_run(session: &Session, stack: &Stack) -> StackRun {
    let env = stacks::settings_for(&session.project, &stack.id).env;
    StackRun { env, ..StackRun::bare(stack.clone()) }
}

/// Initialises a stack where that is needed and returns the beginning of a call in it.
pub async fn prepared(session: &Session, stack: &Stack) -> Result<Invocation> {
    let run = bare_run(session, stack);
    let done = init_stack(session, &run, WhenToInit::Needed, &[]).await;
    done.map_err(|stop| stopped(&stack.id, stop))?;
    Ok(with_early_values(session, &run, session.call(stack, &run.env)?).await)
}
