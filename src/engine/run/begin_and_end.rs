//! What every run begins and ends with: stacks that must not run are left out, requests to stop are
//! told, found states are noted, the report is made.
//!
//! What is done between is in `independent` (init, validate, plan, drift, test) and in `ordered`
//! (apply, destroy); how each stack ends is in `finish`.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use super::conductor::Conductor;
use super::finish::{report, seconds};
use super::options::RunOptions;
use crate::engine::session::Session;
use crate::engine::state_check::{StateCheck, note_missing, note_state, tell_noted};
use crate::error::Error;
use crate::events::RunEvent;
use crate::model::{PlanMode, RunCommand, RunPlan, RunReport, StackId, StackResult, StackRun};

/// Leads a run from its first event to its last, and tells requests to stop meanwhile.
pub(super) async fn lead<'a>(
    (session, plan): (&'a Session, &'a RunPlan),
    options: &'a RunOptions,
    check: StateCheck,
    work: impl AsyncFnOnce(&Conductor<'a>),
) -> RunReport {
    let led = async {
        let conductor = Conductor::begin(session, plan, options, check);
        work(&conductor).await;
        conductor.end().await
    };
    tokio::select! {
        report = led => report,
        never = tell_interrupts(session) => match never {},
    }
}

/// Tells each request to stop as it comes.
async fn tell_interrupts(session: &Session) -> Infallible {
    let mut interrupts = session.interrupts.clone();
    let mut told = interrupts.count();
    loop {
        told = interrupts.beyond(told).await;
        session.events.emit(RunEvent::Interrupted { times: told });
    }
}

impl<'a> Conductor<'a> {
    /// Tells that the run begins, and finishes the stacks that must not run.
    pub fn begin(
        session: &'a Session,
        plan: &'a RunPlan,
        options: &'a RunOptions,
        check: StateCheck,
    ) -> Self {
        let conductor = Self::new(session, plan, options);
        conductor.leave_out(check.problems);
        conductor.set_apart(&check.shared);
        conductor
    }

    /// Notes what the run found, and makes its report.
    pub async fn end(self) -> RunReport {
        self.note_states().await;
        self.into_report()
    }

    /// Finishes the stacks whose state must be brought along first; a run that changes anything then does
    /// nothing at all.
    fn leave_out(&self, problems: BTreeMap<StackId, Error>) {
        let mine = |run: &&&StackRun| problems.contains_key(&run.stack.id);
        let first = self.runs.iter().find(mine).map(|run| run.stack.id.clone());
        // One that feeds a chosen stack without being chosen is told by the stacks that need it.
        let others = problems.iter().find(|(id, _)| !self.numbers.contains_key(id));
        for run in &self.runs {
            let id = &run.stack.id;
            let feeds = |id: &StackId| run.inputs.values().any(|from| from.stack == *id);
            let upstream = || problems.iter().find(|(id, _)| feeds(id));
            match problems.get(id).or_else(|| upstream().map(|(_, error)| error)) {
                Some(error) => self.finish_stopped(run, error.clone().into(), self.started),
                None if !self.plan.command.is_ordered() => {}
                None => {
                    let Some(cause) = first.as_ref().or(others.map(|(id, _)| id)) else { continue };
                    let reason =
                        format!("nothing was begun: the state of {cause} must be brought along first");
                    self.finish(run, report(run, StackResult::Skipped).with_reason(reason), self.started);
                }
            }
        }
    }

    /// Finishes the stacks that share a state, and those that are said to depend on them; all others run,
    /// on higher layers as well.
    fn set_apart(&self, shared: &BTreeMap<StackId, Error>) {
        let mut apart: BTreeSet<&StackId> = BTreeSet::new();
        for run in &self.runs {
            let id = &run.stack.id;
            if self.is_done(run) {
                continue;
            }
            let blocker = run.after.iter().find(|before| apart.contains(before) && self.is_bound(id, before));
            match (shared.get(id), blocker) {
                (Some(error), _) => self.finish_stopped(run, error.clone().into(), self.started),
                (None, Some(blocker)) => {
                    let reason = format!("{blocker} did not succeed");
                    self.finish(run, report(run, StackResult::Skipped).with_reason(reason), self.started);
                }
                (None, None) => continue,
            }
            self.tally.borrow_mut().leave(id);
            apart.insert(id);
        }
    }

    /// Returns whether one of two stacks is said to depend on the other, not only by its layer.
    fn is_bound(&self, one: &StackId, other: &StackId) -> bool {
        let needs = |id: &StackId, other: &StackId| {
            self.numbers.get(id).is_some_and(|number| self.runs[*number].stack.depends_on.contains(other))
        };
        needs(one, other) || needs(other, one)
    }

    /// Notes the states that this run found and `infra.lock` lacks.
    async fn note_states(&self) {
        let writes = matches!(self.plan.command, RunCommand::Init | RunCommand::Apply);
        if writes {
            let begun = |run: &&&StackRun| self.is_sound(&run.stack.id);
            let ids: Vec<StackId> = self.runs.iter().filter(begun).map(|run| run.stack.id.clone()).collect();
            note_missing(self.session, &ids).await;
            // What is passed on to `init` may be `-migrate-state`, which gives a state another lineage.
            if self.plan.command == RunCommand::Init && !self.options.extra.is_empty() {
                for id in &ids {
                    note_state(self.session, id, PlanMode::Normal).await;
                }
            }
        }
        tell_noted(self.session);
    }

    fn is_sound(&self, id: &StackId) -> bool {
        let result = self.tally.borrow().result_of(id);
        matches!(result, Some(StackResult::Succeeded | StackResult::NoChanges))
    }

    fn into_report(self) -> RunReport {
        let tally = self.tally.into_inner();
        let report = RunReport {
            run_id: self.options.run_id.clone(),
            command: self.plan.command,
            started: self.started,
            duration_s: seconds(self.started, self.session.clock.now()),
            exit_code: tally.exit(self.plan.command, self.options.detailed_exitcode).0,
            stacks: tally.into_reports(&self.numbers),
        };
        // Plans that nobody reviewed end with the run that made them.
        let _ = std::fs::remove_dir_all(&self.options.private_dir);
        self.session.events.emit(RunEvent::RunFinished { report: report.clone() });
        report
    }
}
