//! Commands in which no stack waits for another: init, validate, plan, drift, test.
//!
//! No stack waits for another here. Only the result of a plan may wait: whether it is
//! provisional is known when the stacks it takes values from are planned.

use super::begin_and_end::lead;
use super::conductor::{Conductor, HeldBackBy};
use super::finish::{report, seconds};
use super::options::{RunOptions, WhenToInit};
use super::side_by_side::{TurnEnd, work_through};
use crate::engine::calls::Retries;
use crate::engine::session::Session;
use crate::engine::stack::Planned;
use crate::engine::state_check::StateCheck;
use crate::model::{RunCommand, RunPlan, RunReport, StackId, StackReport, StackResult, StackRun};
use crate::tofu::call::PlanMode;
use crate::tofu::tells_of_missing_state;

/// Makes a plan of a run happen whose stacks do not wait for each other.
pub async fn run_independently(
    session: &Session,
    plan: &RunPlan,
    options: &RunOptions,
    check: StateCheck,
) -> RunReport {
    lead((session, plan), options, check, async |conductor| conductor.run_each().await).await
}

impl<'a> Conductor<'a> {
    /// Does the command for every stack, in any order.
    async fn run_each(&self) {
        let mut schedule = self.schedule(HeldBackBy::Ignored);
        work_through(&mut schedule, |index| self.run_one(self.runs[index])).await;
    }

    async fn run_one(&self, run: &'a StackRun) -> TurnEnd {
        let since = self.session.clock.now();
        if self.tally.borrow().result_of(&run.stack.id).is_some() {
            return TurnEnd::Ended;
        }
        if self.is_held_back(run, since) {
            self.release_held();
            return TurnEnd::Ended;
        }
        let mut report = self.outcome(run).await;
        report.duration_s = seconds(since, self.session.clock.now());
        report.tests = self.session.progress.of(&run.stack.id).and_then(|progress| progress.tests);
        self.held.borrow_mut().push(report);
        self.release_held();
        TurnEnd::Ended
    }

    async fn outcome(&self, run: &'a StackRun) -> StackReport {
        let life = self.life(run);
        let mut retries = Retries::of(self.session, &run.stack.id);
        let result = match self.plan.command {
            RunCommand::Init => {
                let init = async || life.init(WhenToInit::Always, &self.options.extra).await;
                retries.run(init).await.map(|()| report(run, StackResult::Succeeded))
            }
            RunCommand::Validate => life.validate().await.map(|()| report(run, StackResult::Succeeded)),
            RunCommand::Test => {
                retries.run(async || life.test().await).await.map(|result| report(run, result))
            }
            RunCommand::Drift => {
                retries.run(async || life.plan_privately().await).await.map(|plan| drift_report(run, &plan))
            }
            RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy => {
                retries.run(async || life.plan().await).await.map(|plan| planned_report(run, &plan))
            }
        };
        result.unwrap_or_else(|stop| self.stopped_report(run, stop))
    }

    /// Finishes the planned stacks for which everything they take values from is finished.
    fn release_held(&self) {
        loop {
            let settled = |report: &StackReport| {
                self.upstream_of(&report.id).all(|id| self.tally.borrow().result_of(id).is_some())
            };
            let found = self.held.borrow().iter().position(settled);
            let Some(position) = found else { return };
            let report = self.held.borrow_mut().remove(position);
            let run = self.runs[self.numbers[&report.id]];
            let report = self.marked(report);
            self.tell_finished(run, report);
        }
    }

    /// Marks a plan as provisional if a stack it takes values from will change, and as deferred if it
    /// cannot be made before.
    fn marked(&self, report: StackReport) -> StackReport {
        if self.plan.command != RunCommand::Plan || self.options.mode != PlanMode::Normal {
            return report;
        }
        let will_change = |id: &&StackId| self.tally.borrow().will_change(id);
        let changing: Vec<&StackId> = self.upstream_of(&report.id).filter(will_change).collect();
        let lacks_state = report.error.as_ref().is_some_and(tells_of_missing_state);
        match report.result {
            _ if changing.is_empty() => report,
            StackResult::Succeeded | StackResult::NoChanges => {
                let reason = self.why_provisional(&report.id, &changing);
                report.provisional(reason)
            }
            StackResult::Failed if lacks_state => {
                let deferred = StackReport { result: StackResult::Deferred, error: None, ..report };
                deferred.with_reason(format!("until {} is applied", listed(&changing)))
            }
            _ => report,
        }
    }

    /// Says which stacks a plan waits for: those it takes values from, or else those it only is said to
    /// depend on.
    fn why_provisional(&self, id: &StackId, changing: &[&StackId]) -> String {
        let run = self.runs[self.numbers[id]];
        let gives = |id: &StackId| {
            let input = run.inputs.values().any(|from| from.stack == *id);
            input || run.stack.reads.iter().any(|(read, _)| read == id)
        };
        let (used, before): (Vec<&StackId>, Vec<&StackId>) = changing.iter().partition(|id| gives(id));
        let (verb, named) = if used.is_empty() { ("uses", before) } else { ("uses outputs of", used) };
        // One that has nothing to do today may have when what is below it is applied.
        let certain = named.iter().any(|id| self.tally.borrow().has_applied(id));
        format!("{verb} {}, which {} change", listed(&named), if certain { "will" } else { "may" })
    }

    /// Returns the stacks of this run whose values a stack uses.
    fn upstream_of(&self, id: &StackId) -> impl Iterator<Item = &'a StackId> {
        let run = self.runs[self.numbers[id]];
        run.stack.depends_on.iter().filter(|id| self.numbers.contains_key(id))
    }
}

fn listed(ids: &[&StackId]) -> String {
    ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ")
}

fn planned_report(run: &StackRun, planned: &Planned) -> StackReport {
    let result = if planned.record.is_empty() { StackResult::NoChanges } else { StackResult::Succeeded };
    let report = report(run, result).with_changes(&planned.record.changes);
    StackReport { state: planned.record.state.clone(), ..report }
}

/// Outputs that only the files changed are no drift; they count where it is looked for what was not applied.
fn drift_report(run: &StackRun, planned: &Planned) -> StackReport {
    if planned.record.mode != PlanMode::RefreshOnly {
        return planned_report(run, planned);
    }
    let clean = planned.record.changes.is_empty();
    let result = if clean { StackResult::NoChanges } else { StackResult::Succeeded };
    report(run, result).with_changes(&planned.record.changes)
}
