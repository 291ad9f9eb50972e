//! A protected stack that would remain although the stacks that depend on it are destroyed first.
//!
//! Where nobody can be asked, a yes beforehand does not cover what is protected, so the stacks
//! above it would be destroyed in vain: that is refused before anything runs.

use crate::commands::Context;
use crate::commands::run::Request;
use crate::engine;
use crate::engine::{Approval, Session};
use crate::error::{Error, Result};
use crate::model::{RunCommand, RunPlan, StackId, StackRun, few, quoted};
use crate::report::Asking;
use crate::stacks;

/// Refuses to destroy the stacks that depend on a protected stack which itself may not be destroyed.
pub async fn check_protected(
    session: &Session,
    plan: &RunPlan,
    request: &Request,
    context: &Context,
) -> Result<()> {
    let is_asked = request.approval() != Approval::Given || context.asking() != Asking::Nobody;
    if plan.command != RunCommand::Destroy || request.allow_destroy || is_asked || is_partial(request) {
        return Ok(());
    }
    for run in plan.stacks().filter(|run| run.protect) {
        let above = stacks_above(session, plan, run)?;
        if !above.is_empty() && has_resources(session, run).await {
            return Err(refusal(run, &above));
        }
    }
    Ok(())
}

/// Returns whether only some resources are meant; they may be others than the protected ones.
fn is_partial(request: &Request) -> bool {
    let parts = ["-target", "--target", "-exclude", "--exclude"];
    request.extra.iter().any(|arg| parts.iter().any(|part| arg.starts_with(part)))
}

/// Returns the chosen stacks that depend on another.
fn stacks_above(session: &Session, plan: &RunPlan, run: &StackRun) -> Result<Vec<StackId>> {
    let dependents = stacks::dependents(&session.stacks, std::slice::from_ref(&run.stack.id))?;
    let chosen = |id: &StackId| plan.stacks().any(|other| other.stack.id == *id);
    Ok(dependents.into_iter().filter(chosen).collect())
}

/// Returns `false` for a state that cannot be read: the run itself fails for that.
async fn has_resources(session: &Session, run: &StackRun) -> bool {
    engine::resources_of(session, &run.stack).await.is_ok_and(|number| number > 0)
}

fn refusal(run: &StackRun, above: &[StackId]) -> Error {
    let id = &run.stack.id;
    let names = above.iter().map(|id| quoted(id.as_str())).collect::<Vec<_>>().join(" ");
    Error::failed(format!("`{id}` is protected, so it would stay while what depends on it goes"))
        .detail(format!("{} would be destroyed before it", few(above, 5)))
        .hint("let it go too: the same command with `--allow-destroy`")
        .hint(format!("or destroy only what depends on it: `infra destroy {names}`"))
}
