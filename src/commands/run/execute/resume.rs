//! What `--resume` goes on with: the stacks that earlier runs of the command left undone.

use std::collections::BTreeSet;

use super::request::Request;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Error, Result};
use crate::model::{Holder, PlanMode, RunCommand};
use crate::process;
use crate::report::{PastRun, Undone, left_undone};

/// Finds what `--resume` is about, and makes the request one of the kind that was left undone.
///
/// A plan to destroy stays one, and what was removed from the tree is looked for there.
pub fn resume(loaded: &LoadedProject, request: &mut Request, context: &Context) -> Result<()> {
    if !request.run.resume {
        return Ok(());
    }
    let name = request.command.name();
    let runs = PastRun::all_over(&loaded.project.runs_dir(), request.command, may_live);
    if runs.is_empty() {
        return Err(Error::usage(format!("there is no earlier `{name}` to resume"))
            .hint(format!("run it: `infra {name} --all`")));
    }
    let is_there =
        |left: &Undone| left.run.removed || loaded.stacks.iter().any(|stack| left.stacks.contains(&stack.id));
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

/// Returns whether a process lives; one of which nothing is known here counts as living.
pub fn may_live(holder: &Holder) -> bool {
    process::holder_is_alive(holder) != Some(false)
}
