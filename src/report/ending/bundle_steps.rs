//! What to do after a run that made a bundle, or applied some.

use super::scope::Scope;
use super::stack_choice::argument;
use crate::model::{RunCommand, RunReport, StackError, StackReport, StackResult};

/// What a person may do about bundles: their flags, and whether applying them loses something protected.
pub struct BundleEnd<'a> {
    /// How the run ended.
    pub report: &'a RunReport,
    /// In which words things can be said.
    pub scope: &'a Scope,
    /// The flag of the bundle, ready to be typed.
    pub flag: &'a str,
    /// Whether a plan of the run loses what is protected.
    pub loses: bool,
}

impl BundleEnd<'_> {
    /// Returns what to do next; nothing if the usual steps are the right ones.
    pub fn steps(&self) -> Option<Vec<String>> {
        match self.report.command {
            RunCommand::Plan => Some(self.after_plan()),
            RunCommand::Apply => self.after_apply().map(|step| vec![step]),
            _ => None,
        }
    }

    fn after_plan(&self) -> Vec<String> {
        use StackResult::{Deferred, Failed, Interrupted, Skipped, Succeeded};
        if !self.with(&[Failed, Skipped, Interrupted]).is_empty() {
            return vec![
                "no bundle was made: once every stack has a plan, the same command makes it".to_owned(),
            ];
        }
        let mut steps = Vec::new();
        if !self.with(&[Succeeded]).is_empty() {
            let allow = if self.loses { " --allow-destroy" } else { "" };
            let command = format!("infra apply {}{allow}", self.flag);
            steps.push(match self.scope.passed.behind(&command) {
                Some(command) => format!("apply exactly this, where its key is: `{command}`"),
                None => format!("apply exactly this, where its key is: `{command}`, with what followed `--`"),
            });
        }
        let deferred = self.with(&[Deferred]);
        if !deferred.is_empty() {
            steps.push(format!("then plan what waits for it: {}", self.plan(&deferred)));
        }
        steps
    }

    fn after_apply(&self) -> Option<String> {
        use StackResult::{Deferred, Failed, Interrupted, Skipped};
        let open = self.with(&[Failed, Skipped, Interrupted, Deferred]);
        let begun = self.with(&[Failed, Interrupted]);
        let is_stale = |stack: &&&StackReport| {
            stack.error.as_ref().is_some_and(|error| error.code.as_deref() == Some(StackError::STALE_PLAN))
        };
        let words = match (begun.iter().all(|stack| is_stale(&stack)), begun.is_empty()) {
            _ if open.is_empty() => return None,
            (_, true) => "plan what is left",
            (true, false) => "plan again",
            (false, false) => "fix what failed, then plan what is left",
        };
        Some(format!("{words}: {}", self.plan(&open)))
    }

    fn plan(&self, stacks: &[&StackReport]) -> String {
        let names = stacks.iter().map(|stack| argument(stack.id.as_str())).collect::<Vec<_>>().join(" ");
        format!("`infra plan {names} {}`", self.flag)
    }

    fn with(&self, results: &[StackResult]) -> Vec<&StackReport> {
        self.report.stacks.iter().filter(|stack| results.contains(&stack.result)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    fn steps(command: RunCommand, results: &[(&str, StackResult)]) -> Option<Vec<String>> {
        let stacks = results.iter().map(|(id, result)| StackReport::new(StackId::new(*id), *result));
        let report = RunReport {
            run_id: "1".to_owned(),
            command,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 1.0,
            exit_code: 0,
            stacks: stacks.collect(),
        };
        let scope = Scope::default();
        BundleEnd { report: &report, scope: &scope, flag: "--bundle b", loses: false }.steps()
    }

    #[test]
    fn what_is_left_of_a_bundle_is_planned_into_a_new_one() {
        use StackResult::{Deferred, Failed, Skipped, Succeeded};

        let half = steps(RunCommand::Apply, &[("a", Succeeded), ("b", Failed), ("c", Skipped)]);
        let deferred = steps(RunCommand::Apply, &[("a", Succeeded), ("b", Deferred)]);

        let half = half.expect("a step");
        assert_eq!(half, ["fix what failed, then plan what is left: `infra plan b c --bundle b`"]);
        assert_eq!(deferred.expect("a step"), ["plan what is left: `infra plan b --bundle b`"]);
        assert_eq!(steps(RunCommand::Apply, &[("a", Succeeded)]), None);
    }

    #[test]
    fn a_bundle_is_applied_as_a_whole_and_one_that_failed_is_made_again() {
        use StackResult::{Deferred, Failed, NoChanges, Succeeded};

        let planned = steps(RunCommand::Plan, &[("a", Succeeded), ("b", Deferred)]).expect("steps");
        let failed = steps(RunCommand::Plan, &[("a", Succeeded), ("b", Failed)]).expect("steps");

        assert_eq!(planned[0], "apply exactly this, where its key is: `infra apply --bundle b`");
        assert_eq!(planned[1], "then plan what waits for it: `infra plan b --bundle b`");
        assert!(failed[0].starts_with("no bundle was made"));
        assert_eq!(steps(RunCommand::Plan, &[("a", NoChanges)]), Some(Vec::new()));
    }
}
