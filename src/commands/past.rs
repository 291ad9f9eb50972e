//! What the past means for a run: which stacks an earlier one left undone, which died, which
//! stacks are gone from the tree.

use std::collections::BTreeSet;

use super::Context;
use super::stack_run::Request;
use super::workspace::Workspace;
use crate::engine::{self, Session};
use crate::error::{Error, Result};
use crate::events::Events;
use crate::model::{Holder, PlanMode, RunCommand, StackId};
use crate::process;
use crate::report::{PastRun, Undone, Unfinished, left_undone};

/// Finds what `--resume` is about, and makes the request one of the kind that was left undone.
///
/// A plan to destroy stays one, and what was removed from the tree is looked for there.
pub(super) fn take_up(workspace: &Workspace, request: &mut Request, context: &Context) -> Result<()> {
    if !request.run.resume {
        return Ok(());
    }
    let name = request.command.name();
    let runs = PastRun::all_over(&workspace.project.runs_dir(), request.command, lives);
    if runs.is_empty() {
        return Err(Error::usage(format!("there is no earlier `{name}` to resume"))
            .hint(format!("run it: `infra {name} --all`")));
    }
    let is_there = |left: &Undone| {
        left.run.removed || workspace.stacks.iter().any(|stack| left.stacks.contains(&stack.id))
    };
    let mut left = left_undone(runs);
    left.retain(|left| is_asked_for(request, left) && is_there(left));
    if left.is_empty() {
        context.terminal.note(&format!("earlier runs of `{name}` left nothing undone"));
    }
    go_on_with(request, &left, context);
    Ok(())
}

/// Makes a request one about what the newest run, and older ones of its kind, left undone.
fn go_on_with(request: &mut Request, left: &[Undone], context: &Context) {
    let stacks = request.undone.insert(BTreeSet::new());
    let Some(Undone { run: newest, .. }) = left.first() else { return };
    let tell = |text: String| context.terminal.note(&text);
    tell(format!("goes on with `{}` of run {}", command_of(newest), newest.run_id));
    for Undone { run, stacks: undone } in left {
        match kind_of(run) == kind_of(newest) {
            true => stacks.extend(undone.iter().cloned()),
            false => tell(format!("left for later: `{} --resume` of run {}", command_of(run), run.run_id)),
        }
    }
    if request.command == RunCommand::Plan {
        request.mode = newest.mode;
    }
    request.removed = newest.removed;
}

/// Returns whether the flags of a request leave room for what a run left undone.
fn is_asked_for(request: &Request, left: &Undone) -> bool {
    let fits_mode = request.command != RunCommand::Plan
        || request.mode == PlanMode::Normal
        || request.mode == left.run.mode;
    fits_mode && (!request.removed || left.run.removed)
}

/// Returns what tells runs of one command apart; only plans have modes of their own.
fn kind_of(run: &PastRun) -> (PlanMode, bool) {
    let mode = if run.command == RunCommand::Plan { run.mode } else { PlanMode::Normal };
    (mode, run.removed)
}

/// Returns the command as it would be typed.
fn command_of(run: &PastRun) -> String {
    let flag = match kind_of(run) {
        (PlanMode::Destroy, _) => " --destroy",
        (PlanMode::RefreshOnly, _) => " --refresh-only",
        (PlanMode::Normal, true) => " --removed",
        (PlanMode::Normal, false) => "",
    };
    format!("infra {}{flag}", run.command.name())
}

/// Returns the chosen stacks; of a run that is resumed only those that are undone.
pub(super) fn choose(
    workspace: &Workspace,
    request: &Request,
    gone: &[StackId],
    context: &Context,
) -> Result<Vec<StackId>> {
    let args = &request.choosing();
    let is_open = args.selection().is_empty();
    let among = match &request.undone {
        _ if request.removed => choose_removed(workspace, request, gone, context)?,
        Some(_) if is_open => workspace.stacks.iter().map(|stack| stack.id.clone()).collect(),
        _ if request.typed == "up" => workspace.select(&args.selection(), context)?,
        _ if only_looks(request.command) => workspace.choose_to_read(args, context)?,
        _ => workspace.choose(args, context)?,
    };
    let is_undone = |id: &StackId| request.undone.as_ref().is_none_or(|undone| undone.contains(id));
    Ok(among.into_iter().filter(is_undone).collect())
}

/// Returns whether a command leaves everything as it is.
const fn only_looks(command: RunCommand) -> bool {
    match command {
        RunCommand::Validate | RunCommand::Plan | RunCommand::Drift | RunCommand::Test => true,
        RunCommand::Init | RunCommand::Apply | RunCommand::Destroy => false,
    }
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
    let chosen = workspace.choose(&request.choosing(), context)?;
    Ok(chosen.into_iter().filter(|id| gone.contains(id)).collect())
}

/// Returns whether a process lives; one of which nothing is known here counts as living.
pub(super) fn lives(holder: &Holder) -> bool {
    process::holder_is_alive(holder) != Some(false)
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

/// Tells of stacks whose folder is gone although their resources are not; one that lives on under
/// another name, or seems to, is not among them.
pub(super) async fn warn_of_removed(session: &Session, renamed: &BTreeSet<StackId>) -> Result<()> {
    // Nothing of the run depends on the copies that others left, so it goes on without them.
    if let Err(error) = engine::fetch_copies(session).await {
        tracing::warn!(%error, "the copies of what others applied cannot be had");
    }
    let lost = engine::lost_stacks(session).await;
    for id in lost.iter().filter(|id| !renamed.contains(id)) {
        session.events.warn(lost_words(id), engine::ways_out_of_loss(id).to_vec());
    }
    let gone = engine::removed_stacks(&session.project, &session.stacks, session.clock).await?;
    let gone: Vec<_> = gone.into_iter().filter(|gone| !renamed.contains(&gone.stack.id)).collect();
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

/// Tells of stacks that cannot be destroyed as they were last applied, because nobody knows how that was.
pub(super) fn tell_lost(lost: &[StackId], context: &Context) {
    for id in lost {
        context.terminal.alert(&format!("warning: {}", lost_words(id)));
        let ways = engine::ways_out_of_loss(id);
        ways.iter().for_each(|way| context.terminal.alert(&format!("  hint: {way}")));
    }
}

/// Says what is left of a stack whose files nobody has.
fn lost_words(id: &StackId) -> String {
    format!("`{id}`: removed from the tree, but not destroyed, and there is no copy of its files")
}
