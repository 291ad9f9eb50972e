//! What to do after a run, as commands that can be pasted.

use crate::model::{RunCommand, RunReport, StackReport, StackResult};

/// Returns what to do next; nothing if there is nothing to say.
pub(super) fn next_steps(report: &RunReport) -> Vec<String> {
    let with = |result| report.stacks.iter().filter(move |stack| stack.result == result).collect::<Vec<_>>();
    let (failed, deferred) = (with(StackResult::Failed), with(StackResult::Deferred));
    let unfinished = with(StackResult::Interrupted);
    let changed = with(StackResult::Succeeded);
    let command = report.command;
    if !failed.is_empty() {
        let again = match report.stacks.len() {
            1 => names(&failed),
            _ => "--resume".to_owned(),
        };
        return vec![format!("mend what failed, then `infra {} {again}`", command.name())];
    }
    if !unfinished.is_empty() {
        let again = match report.stacks.len() {
            1 => names(&unfinished),
            _ => "--resume".to_owned(),
        };
        return vec![format!("go on where it stopped: `infra {} {again}`", command.name())];
    }
    match command {
        RunCommand::Plan if !changed.is_empty() => apply_steps(&changed, &deferred),
        RunCommand::Apply if !changed.is_empty() => {
            vec![format!("see what it made: `infra output {}`", names(&changed))]
        }
        RunCommand::Drift if !changed.is_empty() => {
            vec![format!("see what the files say about it: `infra plan {}`", names(&changed))]
        }
        RunCommand::Init | RunCommand::Validate if report.stacks.len() > 1 => {
            vec!["`infra plan --all`".to_owned()]
        }
        RunCommand::Init
        | RunCommand::Validate
        | RunCommand::Plan
        | RunCommand::Apply
        | RunCommand::Destroy
        | RunCommand::Drift
        | RunCommand::Test => vec![],
    }
}

fn apply_steps(changed: &[&StackReport], deferred: &[&StackReport]) -> Vec<String> {
    let mut steps = vec![format!("apply exactly this: `infra apply {}`", names(changed))];
    if !deferred.is_empty() {
        steps.push(format!("then plan what waits for it: `infra plan {}`", names(deferred)));
    }
    steps
}

/// Names the stacks, or all of them where they are many.
fn names(stacks: &[&StackReport]) -> String {
    if stacks.len() > 3 {
        return "--all".to_owned();
    }
    stacks.iter().map(|stack| quoted(stack.id.as_str())).collect::<Vec<_>>().join(" ")
}

/// Quotes a name for a shell where it needs it.
fn quoted(name: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "-_./".contains(char);
    if name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
