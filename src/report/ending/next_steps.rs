//! What to do after a run, as commands that can be pasted.
//!
//! A command names exactly the stacks it is about, or chooses them in a shorter way that
//! chooses no others; those of which a run found that nothing is to be done may be among
//! them, since nothing is then done with them.

use super::bundle_steps::BundleEnd;
use super::scope::Scope;
use super::stack_choice::{StackChoice, argument, ids};
use crate::model::{RunCommand, RunReport, StackError, StackReport, StackResult, quoted};

/// Returns what to do next; empty if there is nothing to say.
pub fn next_steps(report: &RunReport, scope: &Scope) -> Vec<String> {
    let end = EndedRun { report, scope };
    if let Some(flag) = scope.bundle.as_deref() {
        let loses = report.stacks.iter().any(|stack| end.loses_protected(stack));
        if let Some(steps) = (BundleEnd { report, scope, flag, loses }).steps() {
            return steps;
        }
    }
    let (failed, unfinished) = (end.with(StackResult::Failed), end.with(StackResult::Interrupted));
    if !failed.is_empty() {
        let again = || format!("fix what failed, then {}", end.again(&failed));
        return vec![end.way_out(&failed).unwrap_or_else(again)];
    }
    if !unfinished.is_empty() {
        return vec![format!("go on where it stopped: {}", end.again(&unfinished))];
    }
    let (changed, quiet) = (end.with(StackResult::Succeeded), end.with(StackResult::NoChanges));
    match report.command {
        RunCommand::Plan if !changed.is_empty() => end.after_plan(),
        RunCommand::Apply => end.after_apply(),
        RunCommand::Drift if !changed.is_empty() => {
            vec![end.choice(&changed, &quiet).step("see what the files say about it: ", "plan")]
        }
        RunCommand::Init | RunCommand::Validate if report.stacks.len() > 1 => {
            vec![end.choice(&report.stacks.iter().collect::<Vec<_>>(), &[]).step("", "plan")]
        }
        RunCommand::Init
        | RunCommand::Validate
        | RunCommand::Plan
        | RunCommand::Destroy
        | RunCommand::Drift
        | RunCommand::Test => vec![],
    }
}

/// How a run ended, and what its stacks can be chosen with.
struct EndedRun<'a> {
    report: &'a RunReport,
    scope: &'a Scope,
}

impl<'a> EndedRun<'a> {
    fn with(&self, result: StackResult) -> Vec<&'a StackReport> {
        self.report.stacks.iter().filter(|stack| stack.result == result).collect()
    }

    fn choice(&self, targets: &[&StackReport], besides: &[&StackReport]) -> StackChoice {
        StackChoice {
            targets: ids(targets),
            besides: ids(besides),
            chosen: self.report.stacks.iter().map(|stack| stack.id.clone()).collect(),
            scope: self.scope.clone(),
        }
    }

    /// Returns the command that takes up what is open.
    fn again(&self, open: &[&StackReport]) -> String {
        let name = self.report.command.name();
        let command = match self.report.stacks.len() {
            1 => format!("infra {name} {}", self.choice(open, &[]).names()),
            _ => format!("infra {name} --resume"),
        };
        let plans = self.scope.plan_dir_flag().filter(|_| self.report.command == RunCommand::Apply);
        let flags = [plans, self.scope.to_go_on.clone()];
        let command = flags.into_iter().flatten().fold(command, |command, flag| format!("{command} {flag}"));
        match self.scope.passed.behind(&command) {
            Some(command) => format!("`{command}`"),
            None if self.report.stacks.len() == 1 => "the same command, with what followed `--`".to_owned(),
            None => "the same command with `--resume`, and with what followed `--`".to_owned(),
        }
    }

    fn after_plan(&self) -> Vec<String> {
        let (changed, quiet) = (self.with(StackResult::Succeeded), self.with(StackResult::NoChanges));
        if self.scope.destroys {
            return vec![self.choice(&changed, &quiet).step("destroy exactly this: ", "destroy")];
        }
        // What is provisional may change although it does not today.
        let (provisional, quiet): (Vec<_>, Vec<_>) = quiet.into_iter().partition(|stack| stack.provisional);
        let flags = self.scope.way_to_apply();
        // A saved plan that loses what is protected is refused without a word about it.
        let losing = flags.is_some() && changed.iter().any(|stack| self.loses_protected(stack));
        let flags = flags.map(|flags| if losing { flags + " --allow-destroy" } else { flags });
        let choice = self.choice(&[changed, provisional].concat(), &quiet);
        let words = match (self.scope.keeps_no_plans, losing) {
            (true, _) => "plan, see and apply it in one go: ",
            (false, true) => "apply exactly this, although what is protected loses resources: ",
            (false, false) => "apply exactly this: ",
        };
        let mut steps = vec![choice.step_with(words, "apply", flags.as_deref())];
        let deferred = self.with(StackResult::Deferred);
        if !deferred.is_empty() {
            steps.push(self.choice(&deferred, &[]).step("then plan what waits for it: ", "plan"));
        }
        steps
    }

    fn loses_protected(&self, stack: &StackReport) -> bool {
        let counts = stack.counts();
        self.scope.protected.contains(&stack.id) && counts.destroy + counts.replace > 0
    }

    fn after_apply(&self) -> Vec<String> {
        let (changed, quiet) = (self.with(StackResult::Succeeded), self.with(StackResult::NoChanges));
        let unplanned: Vec<&StackReport> =
            self.with(StackResult::Skipped).into_iter().filter(|stack| stack.has_no_saved_plan()).collect();
        if !unplanned.is_empty() {
            let dir = self.scope.out_dir_flag();
            let choice = self.choice(&unplanned, &[]);
            return vec![choice.step_with(
                "plan what has no saved plan: ",
                "plan",
                Some(dir.trim_start()).filter(|dir| !dir.is_empty()),
            )];
        }
        let deferred = self.with(StackResult::Deferred);
        if !deferred.is_empty() {
            let flag = Some("--with-dependencies");
            let choice = self.choice(&deferred, &quiet);
            return vec![choice.step_with("apply what it waits for as well: ", "apply", flag)];
        }
        match changed.is_empty() {
            true => Vec::new(),
            false => vec![self.choice(&changed, &quiet).step("see what it made: ", "output")],
        }
    }
}

impl EndedRun<'_> {
    /// Returns what to do where the same command would only fail again.
    fn way_out(&self, failed: &[&StackReport]) -> Option<String> {
        let code = |stack: &StackReport| stack.error.as_ref().and_then(|error| error.code.clone());
        let [first, ..] = failed else { return None };
        let all = |wanted: &str| failed.iter().all(|stack| code(stack).as_deref() == Some(wanted));
        let names = failed.iter().map(|stack| argument(stack.id.as_str())).collect::<Vec<_>>().join(" ");
        if all(StackError::STALE_PLAN) {
            Some(format!("plan again: `infra plan {names}{}`", self.scope.out_dir_flag()))
        } else if all(StackError::UNTRUSTED_PLAN) {
            // The same plans, and nothing that would be planned instead of them.
            let dir = self.scope.plan_dir_flag().map(|flag| format!(" {flag}")).unwrap_or_default();
            let saved = if self.scope.saved && dir.is_empty() { " --saved" } else { "" };
            Some(format!("if you know who made them: `infra apply {names}{dir}{saved} --trust`"))
        } else if all(StackError::UNSAVED_STATE) {
            Some(format!("save the state first: `infra state push {} --errored`", quoted(first.id.as_str())))
        } else if self.scope.saved && !all(StackError::LOCKED) {
            // A plan that was begun is out of use.
            let dir = self.scope.out_dir_flag();
            Some(format!("fix what failed, then plan it again: `infra plan {names}{dir}`"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ChangeCounts, StackId};
    use crate::report::PassedArguments;
    use StackResult::{Deferred, NoChanges, Succeeded};

    /// Ten stacks in each of three layers.
    fn project() -> Vec<StackId> {
        let ids =
            (1..=3).flat_map(|layer| (0..10).map(move |number| format!("0{layer}-layer/stack-{number}")));
        ids.map(StackId::new).collect()
    }

    /// Returns the first step after a run over the stacks that have a result.
    fn step(
        command: RunCommand,
        typed: Option<&str>,
        result: impl Fn(&StackId) -> Option<StackResult>,
    ) -> String {
        let stacks = project().into_iter().filter_map(|id| Some(StackReport::new(id.clone(), result(&id)?)));
        let report = RunReport {
            run_id: "1".to_owned(),
            command,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 4.0,
            exit_code: 0,
            stacks: stacks.collect(),
        };
        let scope = Scope { typed: typed.map(str::to_owned), stacks: project(), ..Scope::default() };
        next_steps(&report, &scope).remove(0)
    }

    #[test]
    fn few_stacks_are_named() {
        let two = |id: &StackId| {
            Some(if id.as_str().ends_with("02-layer/stack-1") { Succeeded } else { NoChanges })
        };

        let step = step(RunCommand::Plan, Some("--all"), two);

        assert_eq!(step, "apply exactly this: `infra apply 02-layer/stack-1`");
    }

    #[test]
    fn many_are_chosen_as_before_if_nothing_else_is_among_them() {
        let half = |id: &StackId| Some(if id.as_str() < "02-layer/stack-5" { Succeeded } else { NoChanges });
        let of_a_tag = |id: &StackId| id.as_str().ends_with(['1', '2', '3']).then_some(Succeeded);

        let all = step(RunCommand::Plan, Some("--all"), half);
        let tag = step(RunCommand::Apply, Some("--tag web"), of_a_tag);

        assert_eq!(all, "apply exactly this: `infra apply --all`");
        assert_eq!(tag, "see what it made: `infra output --tag web`");
    }

    #[test]
    fn a_run_over_a_layer_is_never_followed_by_one_over_all() {
        let second = |id: &StackId| (id.layer() == Some(2)).then_some(Succeeded);

        assert_eq!(step(RunCommand::Plan, None, second), "apply exactly this: `infra apply --layer 2`");
        assert_eq!(step(RunCommand::Init, Some("--layer layer"), second), "`infra plan --layer layer`");
    }

    #[test]
    fn what_is_deferred_is_not_chosen_with_the_rest() {
        let first = |id: &StackId| Some(if id.layer() == Some(1) { Succeeded } else { Deferred });

        let step = step(RunCommand::Plan, Some("--all"), first);

        assert_eq!(step, "apply exactly this: `infra apply --layer 1`");
    }

    /// Returns the step after a run that left one stack so.
    fn step_after(command: RunCommand, stack: StackReport, scope: &Scope) -> String {
        let report = RunReport {
            run_id: "1".to_owned(),
            command,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 4.0,
            exit_code: 0,
            stacks: vec![stack],
        };
        next_steps(&report, scope).remove(0)
    }

    #[test]
    fn the_next_command_finds_the_plans_where_they_lie_and_does_what_they_are_for() {
        let planned = || StackReport::new(StackId::new("-a/b c"), Succeeded);
        let elsewhere = Scope { plans_dir: Some("kept".to_owned()), ..Scope::default() };
        let destroying = Scope { destroys: true, ..Scope::default() };

        assert_eq!(
            step_after(RunCommand::Plan, planned(), &elsewhere),
            "apply exactly this: `infra apply --stack='-a/b c' --plan-dir kept`"
        );
        assert_eq!(
            step_after(RunCommand::Plan, planned(), &destroying),
            "destroy exactly this: `infra destroy --stack='-a/b c'`"
        );
    }

    #[test]
    fn what_would_fail_again_is_not_proposed_again() {
        let failed = |code: &str| {
            let mut report = StackReport::new(StackId::new("a"), StackResult::Failed);
            let (summary, detail) = (String::new(), String::new());
            report.error = Some(StackError { code: Some(code.to_owned()), summary, detail, hint: None });
            report
        };
        let yes = Scope { to_go_on: Some("--yes".to_owned()), ..Scope::default() };

        let elsewhere = Scope { plans_dir: Some("kept".to_owned()), ..yes.clone() };

        assert_eq!(step_after(RunCommand::Apply, failed("stale-plan"), &yes), "plan again: `infra plan a`");
        assert_eq!(
            step_after(RunCommand::Apply, failed("stale-plan"), &elsewhere),
            "plan again: `infra plan a --out-dir kept`"
        );
        assert_eq!(
            step_after(RunCommand::Apply, failed("untrusted-plan"), &elsewhere),
            "if you know who made them: `infra apply a --plan-dir kept --trust`"
        );
        assert_eq!(
            step_after(RunCommand::Apply, failed("x"), &elsewhere),
            "fix what failed, then `infra apply a --plan-dir kept --yes`"
        );
        assert_eq!(
            step_after(RunCommand::Apply, failed("unsaved-state"), &yes),
            "save the state first: `infra state push a --errored`"
        );
        assert_eq!(
            step_after(RunCommand::Apply, failed("x"), &yes),
            "fix what failed, then `infra apply a --yes`"
        );
    }

    #[test]
    fn who_cannot_be_asked_is_told_the_way_without_a_question() {
        let planned = || StackReport::new(StackId::new("a"), Succeeded);
        let unattended = Scope { unattended: true, ..Scope::default() };
        let keyless = Scope { keeps_no_plans: true, ..unattended.clone() };

        assert_eq!(
            step_after(RunCommand::Plan, planned(), &unattended),
            "apply exactly this: `infra apply a --saved`"
        );
        assert_eq!(
            step_after(RunCommand::Plan, planned(), &keyless),
            "plan, see and apply it in one go: `infra apply a`"
        );
    }

    #[test]
    fn after_saved_plans_the_next_step_is_to_plan_what_has_none_any_more() {
        let saved = Scope { saved: true, plans_dir: Some("kept".to_owned()), ..Scope::default() };
        let failed = StackReport::new(StackId::new("a"), StackResult::Failed);
        let left = StackReport::new(StackId::new("a"), StackResult::Skipped);

        assert_eq!(
            step_after(RunCommand::Apply, failed, &saved),
            "fix what failed, then plan it again: `infra plan a --out-dir kept`"
        );
        assert_eq!(
            step_after(RunCommand::Apply, left.with_reason(StackReport::NO_SAVED_PLAN), &saved),
            "plan what has no saved plan: `infra plan a --out-dir kept`"
        );
    }

    #[test]
    fn what_was_passed_on_is_needed_again_and_its_values_are_not_said() {
        let stopped = || StackReport::new(StackId::new("a"), StackResult::Interrupted);
        let passed = |arg: &str| Scope { passed: PassedArguments::on(&[arg.to_owned()]), ..Scope::default() };

        assert_eq!(
            step_after(RunCommand::Apply, stopped(), &passed("-refresh=false")),
            "go on where it stopped: `infra apply a -- -refresh=false`"
        );
        assert_eq!(
            step_after(RunCommand::Destroy, stopped(), &passed("-var=token=x")),
            "go on where it stopped: the same command, with what followed `--`"
        );
    }

    #[test]
    fn a_saved_plan_that_loses_what_is_protected_is_proposed_with_the_flag_it_needs() {
        let losing = ChangeCounts { replace: 1, ..ChangeCounts::default() };
        let planned = || StackReport::new(StackId::new("a"), Succeeded).with_counts(losing);
        let protected = [StackId::new("a")].into_iter().collect();
        let asked = Scope { protected, ..Scope::default() };
        let unattended = Scope { unattended: true, ..asked.clone() };

        assert!(
            step_after(RunCommand::Plan, planned(), &unattended)
                .ends_with("`infra apply a --saved --allow-destroy`")
        );
        assert_eq!(step_after(RunCommand::Plan, planned(), &asked), "apply exactly this: `infra apply a`");
    }

    #[test]
    fn what_cannot_be_said_shortly_is_said_in_full() {
        let odd =
            |id: &StackId| Some(if id.as_str().ends_with(['1', '3', '5']) { Succeeded } else { Deferred });

        let step = step(RunCommand::Plan, Some("--all"), odd);

        assert_eq!(step.matches("-layer/stack-").count(), 9, "{step}");
    }
}
