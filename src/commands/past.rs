//! What the past means for a run: which stacks an earlier one left undone, which died, which
//! stacks are gone from the tree.

use super::Context;
use super::stack_run::Request;
use super::workspace::Workspace;
use crate::engine::{self, Session};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Holder, StackId};
use crate::process;
use crate::report::{PastRun, Unfinished};

/// Returns the chosen stacks; with `--resume` only those that the last run of the command left undone.
pub(super) fn choose(
    workspace: &Workspace,
    request: &Request,
    gone: &[StackId],
    context: &Context,
) -> Result<Vec<StackId>> {
    if request.removed {
        return choose_removed(workspace, request, gone, context);
    }
    if !request.run.resume {
        return workspace.choose(&request.stacks, context);
    }
    let name = request.command.name();
    let Some(last) = PastRun::last(&workspace.project.runs_dir(), request.command, lives) else {
        return Err(Error::usage(format!("there is no earlier `{name}` to resume"))
            .hint(format!("run it: `infra {name} --all`")));
    };
    let undone = last.left_undone();
    if undone.is_empty() {
        context.terminal.note(&format!("run {} left nothing undone", last.run_id));
    }
    let among = match request.stacks.selection().is_empty() {
        true => workspace.stacks.iter().map(|stack| stack.id.clone()).collect(),
        false => workspace.choose(&request.stacks, context)?,
    };
    Ok(among.into_iter().filter(|id| undone.contains(id)).collect())
}

/// Returns the chosen ones among the stacks that are gone from the tree.
fn choose_removed(
    workspace: &Workspace,
    request: &Request,
    gone: &[StackId],
    context: &Context,
) -> Result<Vec<StackId>> {
    if gone.is_empty() {
        context.terminal.note("no stack was removed from the tree without being destroyed");
    }
    if request.stacks.selection().is_empty() || gone.is_empty() {
        return Ok(gone.to_vec());
    }
    let chosen = workspace.choose(&request.stacks, context)?;
    Ok(chosen.into_iter().filter(|id| gone.contains(id)).collect())
}

/// Returns whether a process lives; one on another host counts as living.
pub(super) fn lives(holder: &Holder) -> bool {
    holder.host != process::hostname() || process::is_alive(holder.pid, holder.started)
}

/// Tells of runs that died, once.
pub(super) fn warn_of_the_past(workspace: &Workspace, events: &Events) {
    for run in Unfinished::take_all(&workspace.project.runs_dir(), lives) {
        let command = run.command.name();
        events.warn(
            format!("run {} ({command}, process {}) ended without finishing", run.run_id, run.process.pid),
            vec![
                "it may have left a lock behind: `infra locks`".to_owned(),
                format!("what it did: `.infra/runs/{}`", run.run_id),
            ],
        );
    }
}

/// Tells of stacks whose folder is gone although their resources are not.
pub(super) async fn warn_of_removed(session: &Session) -> Result<()> {
    // Nothing of the run depends on the copies that others left, so it goes on without them.
    if let Err(error) = engine::fetch_copies(session).await {
        tracing::warn!(%error, "the copies of what others applied cannot be had");
    }
    let gone = engine::removed_stacks(&session.project, &session.stacks, session.clock).await?;
    if gone.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = gone.iter().map(|gone| gone.stack.id.as_str()).collect();
    let names = names.join("`, `");
    session.events.warn(
        format!("`{names}`: removed from the tree, but not destroyed"),
        vec![
            "see what they were: `infra stacks --removed`".to_owned(),
            "destroy them as they were last applied: `infra destroy --removed`".to_owned(),
        ],
    );
    Ok(())
}
