//! How stacks end in a run: each gets a report, which is told and tallied.
//!
//! What keeps a stack from beginning is decided here too.

use jiff::Timestamp;

use super::conductor::Conductor;
use crate::engine::applied::{forget_copy, withdraw_copy};
use crate::engine::calls::Stop;
use crate::engine::single_calls::read_addresses;
use crate::engine::stack::Planned;
use crate::engine::state_check::{note_destroyed, note_state};
use crate::engine::variables::only_give_variables;
use crate::events::RunEvent;
use crate::model::{ChangeCounts, RunCommand, StackReport, StackResult, StackRun, Step, quoted};

impl<'a> Conductor<'a> {
    /// Finishes a stack that cannot begin: a stop was asked for, or a stack before it did not succeed.
    pub fn is_held_back(&self, run: &StackRun, since: Timestamp) -> bool {
        if self.session.interrupts.any() {
            self.finish(run, self.unbegun_report(run), since);
            return true;
        }
        let Some(reason) = self.obstacle(run) else { return false };
        self.finish(run, report(run, StackResult::Skipped).with_reason(reason), since);
        true
    }

    pub fn obstacle(&self, run: &StackRun) -> Option<String> {
        let tally = self.tally.borrow();
        if let Some(blocker) = tally.blocker_of(run) {
            return Some(format!("{blocker} did not succeed"));
        }
        let failed = tally.first_failure().filter(|_| self.options.fail_fast)?;
        Some(format!("{failed} failed, and `--fail-fast` was given"))
    }

    /// A stack that has no resources needs no inputs to be destroyed; any other cannot be without them.
    pub async fn finish_without_inputs(&self, run: &'a StackRun, since: Timestamp) {
        let id = &run.stack.id;
        match read_addresses(self.session, id, &[]).await {
            Ok(addresses) if addresses.is_empty() => {
                note_state(self.session, id, self.options.mode).await;
                self.finish(run, report(run, StackResult::NoChanges), since);
            }
            Ok(_) => {
                let error = self.life(run).without_inputs().await;
                self.finish_stopped(run, error.into(), since);
            }
            Err(error) => self.finish_stopped(run, error.into(), since),
        }
    }

    pub async fn finish_applied(&self, run: &StackRun, planned: &Planned, since: Timestamp) {
        self.forget_destroyed(run).await;
        self.finish(run, report(run, StackResult::Succeeded).with_changes(&planned.record.changes), since);
    }

    pub async fn finish_unchanged(&self, run: &'a StackRun, planned: &Planned, since: Timestamp) {
        let ready = self.bring_former_along(run).await;
        let ready = ready.and_then(|is_elsewhere| {
            self.life(run).forget_empty_plan(planned)?;
            Ok(is_elsewhere)
        });
        match ready {
            Ok(is_elsewhere) => {
                if is_elsewhere {
                    self.tell_other_workspace(run);
                }
                if self.plan.command == RunCommand::Apply && only_give_variables(&self.options.extra) {
                    self.life(run).remember_inputs().await;
                }
                self.forget_destroyed(run).await;
                self.finish(run, report(run, StackResult::NoChanges), since);
            }
            Err(stop) => self.finish_stopped(run, stop, since),
        }
    }

    /// Tells that a plan without changes was made before the state came along: the name of the workspace may
    /// make some.
    fn tell_other_workspace(&self, run: &StackRun) {
        let id = &run.stack.id;
        let message = "it was planned in the workspace that its state is from".to_owned();
        let hint = format!("see what its own makes of it: `infra plan {}`", quoted(id.as_str()));
        self.session.tell_once(Some(id), message, vec![hint]);
    }

    /// Returns whether this run leaves nothing of the stacks that it succeeds with.
    pub fn destroys_everything(&self) -> bool {
        self.plan.command == RunCommand::Destroy && only_give_variables(&self.options.extra)
    }

    /// A stack without resources needs no copy of what was applied.
    async fn forget_destroyed(&self, run: &StackRun) {
        if self.destroys_everything() {
            // A copy that stays is reported as removed, and can be destroyed again without harm.
            let _ = withdraw_copy(self.session, &run.stack).await;
            let _ = forget_copy(&self.session.project, &run.stack.id);
            note_destroyed(self.session, &run.stack.id).await;
        }
    }

    /// Finishes a stack that nobody said yes to; `differs` if somebody was shown another plan of it.
    pub fn finish_declined(&self, run: &'a StackRun, planned: &Planned, differs: bool, since: Timestamp) {
        let protected = run.protect && planned.destroys() && !self.options.allow_destroy;
        let reason = match (protected, differs) {
            (true, _) => "protected and not approved (`--allow-destroy` allows it)".to_owned(),
            (false, true) => format!(
                "its plan is not what was shown, and nobody approved the difference; {}",
                self.life(run).way_to_plans(None).replacen("plan again", "review it", 1)
            ),
            (false, false) => StackReport::NOT_APPROVED.to_owned(),
        };
        let report = report(run, StackResult::Skipped).with_changes(&planned.record.changes);
        self.finish(run, report.with_reason(reason), since);
    }

    pub fn finish_stopped(&self, run: &StackRun, stop: Stop, since: Timestamp) {
        self.finish(run, self.stopped_report(run, stop), since);
    }

    pub fn finish(&self, run: &StackRun, mut report: StackReport, since: Timestamp) {
        report.duration_s = seconds(since, self.session.clock.now());
        self.tell_finished(run, report);
    }

    /// Returns the report of a stack whose life ended early.
    pub fn stopped_report(&self, run: &StackRun, stop: Stop) -> StackReport {
        match stop {
            Stop::Failed(error) => {
                let report = report(run, StackResult::Failed).with_counts(self.done_to(run));
                StackReport { error: Some(error), ..report }
            }
            Stop::Deferred(reason) => report(run, StackResult::Deferred).with_reason(reason),
            Stop::Interrupted => self.interrupted_report(run),
        }
    }

    /// Returns what an apply did to the resources of a stack before it ended.
    fn done_to(&self, run: &StackRun) -> ChangeCounts {
        let progress =
            self.session.progress.of(&run.stack.id).filter(|progress| progress.step == Step::Apply);
        progress.map(|progress| progress.done).unwrap_or_default()
    }

    /// Says what was done before the stop and what was not.
    fn interrupted_report(&self, run: &StackRun) -> StackReport {
        let report = report(run, StackResult::Interrupted);
        match self.session.progress.of(&run.stack.id) {
            Some(progress) => report.with_counts(progress.done).with_reason(progress.words(&run.stack.id)),
            None => report.with_reason("a stop was asked for; nothing was changed"),
        }
    }

    /// Returns the report of a stack whose turn never came.
    fn unbegun_report(&self, run: &StackRun) -> StackReport {
        let report = report(run, StackResult::Interrupted);
        match self.session.progress.of(&run.stack.id) {
            // Who needs its outputs may have prepared its folder.
            Some(progress) if progress.step != Step::Init => {
                report.with_reason("planned, but not applied; nothing was changed")
            }
            _ => {
                let report = report.with_reason("not begun: a stop was asked for before its turn");
                StackReport { not_begun: true, ..report }
            }
        }
    }

    /// Tells and tallies a report whose duration is known.
    pub fn tell_finished(&self, run: &StackRun, report: StackReport) {
        self.tell_unread(run, &report);
        self.session.events.emit(RunEvent::StackFinished { report: report.clone() });
        self.tally.borrow_mut().add(report, &run.after);
    }
}

impl Conductor<'_> {
    /// Tells of files that only tofu could read; what tofu itself found wrong in them is told by its error.
    fn tell_unread(&self, run: &StackRun, report: &StackReport) {
        if matches!(report.result, StackResult::Skipped | StackResult::Interrupted) {
            return;
        }
        let said = report.error.as_ref().map(|error| error.detail.as_str()).unwrap_or_default();
        for note in &run.stack.unread {
            let path = note.split(':').next().unwrap_or_default();
            let file = path.rsplit('/').next().unwrap_or_default();
            if !said.contains(file) {
                let message = format!("{note}; what was found in the file is used, and tofu judges it");
                self.session.tell_once(Some(&run.stack.id), message, Vec::new());
            }
        }
    }
}

pub(super) fn report(run: &StackRun, result: StackResult) -> StackReport {
    StackReport::new(run.stack.id.clone(), result)
}

/// Returns the seconds between two times, to the millisecond.
pub fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    let milliseconds = to.as_millisecond() - from.as_millisecond();
    let milliseconds = i32::try_from(milliseconds.max(0)).unwrap_or(i32::MAX);
    f64::from(milliseconds) / 1000.0
}
