//! What became of the stacks so far, and what that means for the rest and for the exit code.

use std::collections::{HashMap, HashSet};

use crate::engine::calls::kind_of;
use crate::error::{Exit, Kind};
use crate::model::{RunCommand, StackError, StackId, StackReport, StackResult, StackRun};

/// The results of a run, in the order the stacks were finished.
#[derive(Debug, Default)]
pub struct Tally {
    reports: Vec<StackReport>,
    numbers: HashMap<StackId, usize>,
    /// Stacks that were changed, and those above them.
    touched: HashSet<StackId>,
    /// Stacks that were left on purpose, and stand in nobody's way.
    left: HashSet<StackId>,
}

impl Tally {
    /// Adds a finished stack that waited for others.
    pub fn add(&mut self, report: StackReport, after: &[StackId]) {
        let changed = report.result == StackResult::Succeeded;
        if changed || after.iter().any(|id| self.touched.contains(id)) {
            self.touched.insert(report.id.clone());
        }
        self.numbers.insert(report.id.clone(), self.reports.len());
        self.reports.push(report);
    }

    /// Lets others go on without a stack that nothing is done to.
    pub fn leave(&mut self, id: &StackId) {
        self.left.insert(id.clone());
    }

    fn report_of(&self, id: &StackId) -> Option<&StackReport> {
        self.numbers.get(id).map(|number| &self.reports[*number])
    }

    /// Returns what became of a stack, if it is finished.
    pub fn result_of(&self, id: &StackId) -> Option<StackResult> {
        self.report_of(id).map(|report| report.result)
    }

    /// Returns whether a planned stack will, or may, change when it is applied.
    pub fn will_change(&self, id: &StackId) -> bool {
        self.report_of(id).is_some_and(|report| {
            report.provisional || matches!(report.result, StackResult::Succeeded | StackResult::Deferred)
        })
    }

    /// Returns whether something below a stack was changed in this run.
    pub fn is_touched(&self, run: &StackRun) -> bool {
        run.after.iter().any(|id| self.touched.contains(id))
    }

    /// Returns the stack that failed first.
    pub fn first_failure(&self) -> Option<&StackId> {
        let failed = self.reports.iter().find(|report| report.result == StackResult::Failed);
        failed.map(|report| &report.id)
    }

    /// Returns the stack that keeps another from running, if there is one.
    pub fn blocker_of<'a>(&self, run: &'a StackRun) -> Option<&'a StackId> {
        let is_in_the_way = |id: &&StackId| {
            let result = self.result_of(id);
            result.is_some_and(|result| !matches!(result, StackResult::Succeeded | StackResult::NoChanges))
        };
        run.after.iter().filter(|id| !self.left.contains(id)).find(is_in_the_way)
    }

    /// Returns whether a stack was changed in this run, or has changes if it was only planned.
    pub fn has_applied(&self, id: &StackId) -> bool {
        self.result_of(id) == Some(StackResult::Succeeded)
    }

    /// Returns the exit code; changes count only if the caller asked to be told.
    pub fn exit(&self, command: RunCommand, tell_changes: bool) -> Exit {
        let any = |result| self.reports.iter().any(|report| report.result == result);
        if any(StackResult::Interrupted) {
            return Kind::Interrupted.exit();
        }
        if any(StackResult::Failed) {
            return self.kind_of_failures().exit();
        }
        // A plan may wait for another stack; an apply that left something undone has not succeeded.
        if any(StackResult::Skipped) || (command.is_ordered() && any(StackResult::Deferred)) {
            return Kind::Failed.exit();
        }
        let deferred = command == RunCommand::Plan && any(StackResult::Deferred);
        let changes = any(StackResult::Succeeded) || deferred;
        if tell_changes && changes { Exit::CHANGES } else { Exit::OK }
    }

    /// Returns the reports in the order of the plan.
    pub fn into_reports(mut self, order: &HashMap<&StackId, usize>) -> Vec<StackReport> {
        self.reports.sort_by_key(|report| order.get(&report.id).copied());
        self.reports
    }

    /// Only failures of one kind make the run a failure of that kind; a state that must be brought along
    /// first is the one to tell, whatever else failed.
    fn kind_of_failures(&self) -> Kind {
        let errors = self.reports.iter().filter_map(|report| report.error.as_ref());
        if errors.into_iter().any(StackError::is_about_the_states_place) {
            return Kind::Invalid;
        }
        let failed = self.reports.iter().filter(|report| report.result == StackResult::Failed);
        let mut kinds = failed.map(|report| report.error.as_ref().map_or(Kind::Failed, kind_of));
        match kinds.next() {
            Some(first) if kinds.all(|kind| kind == first) => first,
            _ => Kind::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(results: &[(StackResult, Option<&str>)]) -> Tally {
        let mut tally = Tally::default();
        for (number, (result, code)) in results.iter().enumerate() {
            let mut report = StackReport::new(StackId::new(format!("s{number}")), *result);
            let code = code.map(str::to_owned);
            report.error =
                Some(StackError { code, summary: String::new(), detail: String::new(), hint: None });
            tally.add(report, &[]);
        }
        tally
    }

    #[test]
    fn only_what_cannot_be_reached_makes_the_exit_code_of_that() {
        use StackResult::Failed;
        let unavailable = (Failed, Some(StackError::UNAVAILABLE));

        assert_eq!(tally(&[unavailable, unavailable]).exit(RunCommand::Plan, false), Exit(69));
        let (locked, refused) = ((Failed, Some(StackError::LOCKED)), (Failed, Some(StackError::REFUSED)));
        assert_eq!(tally(&[refused]).exit(RunCommand::Plan, false), Exit(77));
        assert_eq!(tally(&[unavailable, locked]).exit(RunCommand::Plan, false), Exit(1));
    }

    #[test]
    fn only_locks_make_the_exit_code_of_a_lock() {
        use StackResult::{Failed, NoChanges};

        assert_eq!(
            tally(&[(Failed, Some(StackError::LOCKED)), (NoChanges, None)]).exit(RunCommand::Plan, false),
            Exit(75)
        );
        assert_eq!(
            tally(&[(Failed, Some(StackError::LOCKED)), (Failed, None)]).exit(RunCommand::Plan, false),
            Exit(1)
        );
    }

    #[test]
    fn an_apply_that_left_a_stack_deferred_has_not_succeeded() {
        let deferred = tally(&[(StackResult::Deferred, None)]);

        assert_eq!(deferred.exit(RunCommand::Apply, false), Exit(1));
        assert_eq!(deferred.exit(RunCommand::Plan, false), Exit(0));
    }

    #[test]
    fn an_interruption_outweighs_everything() {
        use StackResult::{Failed, Interrupted};

        assert_eq!(tally(&[(Failed, None), (Interrupted, None)]).exit(RunCommand::Plan, true), Exit(130));
    }

    #[test]
    fn changes_are_told_only_when_asked_for() {
        use StackResult::{NoChanges, Succeeded};

        assert_eq!(tally(&[(Succeeded, None)]).exit(RunCommand::Plan, true), Exit(2));
        assert_eq!(tally(&[(Succeeded, None)]).exit(RunCommand::Plan, false), Exit(0));
        assert_eq!(tally(&[(NoChanges, None)]).exit(RunCommand::Plan, true), Exit(0));
    }
}
