//! What became of the stacks so far, and what that means for the rest and for the exit code.

use crate::error::{Exit, Kind};
use crate::model::{StackId, StackReport, StackResult, StackRun};

use super::failure::STATE_LOCKED;

/// The results of a run, in the order the stacks were finished.
#[derive(Debug, Default)]
pub(super) struct Tally {
    reports: Vec<StackReport>,
}

impl Tally {
    /// Adds a finished stack.
    pub fn add(&mut self, report: StackReport) {
        self.reports.push(report);
    }

    /// Returns the stack that keeps another from running, if there is one.
    pub fn blocker_of(&self, run: &StackRun) -> Option<&StackId> {
        let stands_in_the_way = |report: &&StackReport| {
            run.after.contains(&report.id)
                && !matches!(report.result, StackResult::Succeeded | StackResult::NoChanges)
        };
        self.reports.iter().find(stands_in_the_way).map(|report| &report.id)
    }

    /// Returns the exit code; changes count only if the caller asked to be told.
    pub fn exit(&self, tell_changes: bool) -> Exit {
        let any = |result| self.reports.iter().any(|report| report.result == result);
        if any(StackResult::Interrupted) {
            return Kind::Interrupted.exit();
        }
        if any(StackResult::Failed) {
            let kind = if self.only_locks_failed() { Kind::Locked } else { Kind::Failed };
            return kind.exit();
        }
        if any(StackResult::Skipped) {
            return Kind::Failed.exit();
        }
        let changes = any(StackResult::Succeeded) || any(StackResult::Deferred);
        if tell_changes && changes { Exit::CHANGES } else { Exit::OK }
    }

    /// Returns the reports in the order of the plan.
    pub fn into_reports(mut self, order: &[StackId]) -> Vec<StackReport> {
        self.reports.sort_by_key(|report| order.iter().position(|id| *id == report.id));
        self.reports
    }

    fn only_locks_failed(&self) -> bool {
        let failed = self.reports.iter().filter(|report| report.result == StackResult::Failed);
        let code = |report: &StackReport| report.error.as_ref().and_then(|error| error.code.clone());
        failed.map(code).all(|code| code.as_deref() == Some(STATE_LOCKED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackError;

    fn tally(results: &[(StackResult, Option<&str>)]) -> Tally {
        let mut tally = Tally::default();
        for (number, (result, code)) in results.iter().enumerate() {
            let mut report = StackReport::new(StackId::new(format!("s{number}")), *result);
            let code = code.map(str::to_owned);
            report.error =
                Some(StackError { code, summary: String::new(), detail: String::new(), hint: None });
            tally.add(report);
        }
        tally
    }

    #[test]
    fn only_locks_make_the_exit_code_of_a_lock() {
        use StackResult::{Failed, NoChanges};

        assert_eq!(tally(&[(Failed, Some(STATE_LOCKED)), (NoChanges, None)]).exit(false), Exit(75));
        assert_eq!(tally(&[(Failed, Some(STATE_LOCKED)), (Failed, None)]).exit(false), Exit(1));
    }

    #[test]
    fn an_interruption_outweighs_everything() {
        use StackResult::{Failed, Interrupted};

        assert_eq!(tally(&[(Failed, None), (Interrupted, None)]).exit(true), Exit(130));
    }

    #[test]
    fn changes_are_told_only_when_asked_for() {
        use StackResult::{NoChanges, Succeeded};

        assert_eq!(tally(&[(Succeeded, None)]).exit(true), Exit(2));
        assert_eq!(tally(&[(Succeeded, None)]).exit(false), Exit(0));
        assert_eq!(tally(&[(NoChanges, None)]).exit(true), Exit(0));
    }
}
