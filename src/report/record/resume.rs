//! What `--resume` goes on with: the stacks that earlier runs of a command left undone. Begin at [`resumption`].

use std::collections::BTreeSet;
use std::path::Path;

use super::history::{PastRun, Undone, left_undone};
use crate::error::{Error, Result};
use crate::model::{Holder, PlanMode, RunCommand, StackId};

/// What a run that goes on with earlier ones is asked for.
#[derive(Clone, Copy, Debug)]
pub struct ResumeRequest {
    /// The command.
    pub command: RunCommand,
    /// What its plans are for; `Normal` if that was not said.
    pub mode: PlanMode,
    /// Whether only stacks that are gone from the tree are meant.
    pub removed: bool,
}

/// What a run goes on with.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Resumption {
    /// The stacks that the newest run, and older ones of its kind, left undone.
    pub stacks: BTreeSet<StackId>,
    /// What the plans of those runs were for; `None` where nothing is left undone.
    pub mode: Option<PlanMode>,
    /// Whether those runs were about stacks that are gone from the tree.
    pub removed: bool,
    /// What to tell about it, a line each.
    pub notes: Vec<String>,
}

/// Finds what a run goes on with; a plan to destroy stays one, and what was removed from the tree is
/// looked for there.
///
/// `is_alive` tells whether the process of a run without a report still lives, `is_stack` whether the tree
/// has a stack.
pub fn resumption(
    runs_dir: &Path,
    request: ResumeRequest,
    is_alive: impl Fn(&Holder) -> bool,
    is_stack: impl Fn(&StackId) -> bool,
) -> Result<Resumption> {
    let name = request.command.name();
    let runs = PastRun::all_over(runs_dir, request.command, is_alive);
    if runs.is_empty() {
        return Err(Error::usage(format!("there is no earlier `{name}` to resume"))
            .hint(format!("run it: `infra {name} --all`")));
    }
    let is_there = |left: &Undone| left.run.removed || left.stacks.iter().any(&is_stack);
    let mut left = left_undone(runs);
    left.retain(|left| request.allows(left) && is_there(left));
    Ok(Resumption::of(&left, name))
}

impl ResumeRequest {
    /// Returns whether the flags of the request leave room for what a run left undone.
    fn allows(self, left: &Undone) -> bool {
        let fits_mode =
            self.command != RunCommand::Plan || self.mode == PlanMode::Normal || self.mode == left.run.mode;
        fits_mode && (!self.removed || left.run.removed)
    }
}

impl Resumption {
    /// Takes the kind of the newest run; what is left undone of another kind is left for later.
    fn of(left: &[Undone], name: &str) -> Self {
        let Some(Undone { run: newest, .. }) = left.first() else {
            return Self {
                notes: vec![format!("earlier runs of `{name}` left nothing undone")],
                ..Self::default()
            };
        };
        let mut found = Self {
            stacks: BTreeSet::new(),
            mode: Some(newest.mode),
            removed: newest.removed,
            notes: vec![format!("goes on with `{}` of run {}", command_of(newest), newest.run_id)],
        };
        for Undone { run, stacks } in left {
            if kind_of(run) == kind_of(newest) {
                found.stacks.extend(stacks.iter().cloned());
            } else {
                let command = command_of(run);
                found.notes.push(format!("left for later: `{command} --resume` of run {}", run.run_id));
            }
        }
        found
    }
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
