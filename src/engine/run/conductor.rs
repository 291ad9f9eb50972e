//! Who leads the stacks of one run: what is to be done, and what became of it so far.
//!
//! What is done with each stack is in `independent` and `ordered`, how each ends in `finish`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use jiff::Timestamp;

use super::options::{Approval, RunOptions};
use super::schedule::{Limits, Schedule, Task};
use super::tally::Tally;
use crate::engine::session::Session;
use crate::engine::stack::StackLife;
use crate::events::RunEvent;
use crate::model::{RunPlan, StackId, StackReport, StackRun};

/// Which edges hold stacks back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HeldBackBy {
    /// Those of the plan of the run: declared ones and layers.
    Kept,
    /// None.
    Ignored,
}

/// Leads the stacks of one run.
pub struct Conductor<'a> {
    pub session: &'a Session,
    pub plan: &'a RunPlan,
    pub options: &'a RunOptions,
    /// The stacks, each after everything it waits for.
    pub runs: Vec<&'a StackRun>,
    pub numbers: HashMap<&'a StackId, usize>,
    pub started: Timestamp,
    pub tally: RefCell<Tally>,
    /// Whether anything was begun to be changed.
    pub changes: Cell<bool>,
    /// Planned stacks whose result waits for that of a stack before them.
    pub held: RefCell<Vec<StackReport>>,
}

impl<'a> Conductor<'a> {
    /// Tells that the run begins.
    pub(super) fn new(session: &'a Session, plan: &'a RunPlan, options: &'a RunOptions) -> Self {
        let started = session.clock.now();
        let runs: Vec<&StackRun> = plan.stacks().collect();
        session.events.emit(RunEvent::RunStarted {
            run_id: options.run_id.clone(),
            command: plan.command,
            project: plan.project.clone(),
            stacks: runs.iter().map(|run| run.stack.id.clone()).collect(),
            parallelism: options.parallelism.min(runs.len().max(1)),
            asks: plan.command.is_ordered() && options.approval == Approval::Ask,
            tofu: session.tofu.version.to_string(),
        });
        let numbers = runs.iter().enumerate().map(|(number, run)| (&run.stack.id, number)).collect();
        let (tally, held, changes) = (RefCell::default(), RefCell::default(), Cell::new(false));
        Self { session, plan, options, runs, numbers, started, tally, changes, held }
    }

    /// Returns whether a stack has its result already.
    pub fn is_done(&self, run: &StackRun) -> bool {
        self.tally.borrow().result_of(&run.stack.id).is_some()
    }

    /// Makes a schedule of all stacks.
    pub fn schedule(&self, edges: HeldBackBy) -> Schedule {
        let usual = usual_seconds(self.options);
        let task = |run: &&StackRun| Task {
            after: match edges {
                HeldBackBy::Kept => run.after.iter().filter_map(|id| self.numbers.get(id).copied()).collect(),
                HeldBackBy::Ignored => Vec::new(),
            },
            pool: run.pool.clone(),
            seconds: self.options.durations.get(&run.stack.id).copied().unwrap_or(usual),
        };
        let limits = Limits { at_once: self.options.parallelism, pools: self.session.project.pools.clone() };
        Schedule::new(self.runs.iter().map(task).collect(), limits)
    }

    pub const fn life(&self, run: &'a StackRun) -> StackLife<'a> {
        StackLife { session: self.session, run, options: self.options, beside: None }
    }
}

/// Returns what to expect of a stack that never ran: the mean of the others.
fn usual_seconds(options: &RunOptions) -> f64 {
    let known = u32::try_from(options.durations.len()).unwrap_or(u32::MAX);
    if known == 0 { 1.0 } else { options.durations.values().sum::<f64>() / f64::from(known) }
}
