//! The table that ends a run over several stacks, and the words for each result.

use super::table::Table;
use super::terminal::{Terminal, Tone};
use crate::model::{RunCommand, RunReport, StackReport, StackResult, human_duration};

/// Returns the sign of a result.
pub(super) const fn sign(result: StackResult) -> &'static str {
    match result {
        StackResult::Succeeded | StackResult::NoChanges => "✓",
        StackResult::Failed => "✗",
        StackResult::Skipped | StackResult::Deferred => "·",
        StackResult::Interrupted => "!",
    }
}

/// Returns the tone of a result.
pub(super) const fn tone(result: StackResult) -> Tone {
    match result {
        StackResult::Succeeded | StackResult::NoChanges => Tone::Good,
        StackResult::Failed => Tone::Bad,
        StackResult::Skipped | StackResult::Deferred => Tone::Dim,
        StackResult::Interrupted => Tone::Warn,
    }
}

/// Returns what became of a stack in a few words.
pub(super) fn words(command: RunCommand, report: &StackReport) -> String {
    let reason = report.reason.as_deref().unwrap_or_default();
    match report.result {
        StackResult::Succeeded | StackResult::NoChanges if report.provisional => {
            format!("{} · provisional: {reason}", settled(command, report))
        }
        StackResult::Succeeded | StackResult::NoChanges => settled(command, report),
        StackResult::Failed => "failed".to_owned(),
        StackResult::Skipped => format!("skipped: {reason}"),
        StackResult::Deferred => format!("deferred {reason}"),
        StackResult::Interrupted => "interrupted".to_owned(),
    }
}

fn settled(command: RunCommand, report: &StackReport) -> String {
    match report.result {
        StackResult::Succeeded => done(command, report),
        _ => result_word(command, report).to_owned(),
    }
}

fn done(command: RunCommand, report: &StackReport) -> String {
    let counts = report.counts();
    let counts = if counts == Default::default() { "outputs only".to_owned() } else { counts.to_string() };
    match command {
        RunCommand::Init => "initialised".to_owned(),
        RunCommand::Validate => "valid".to_owned(),
        RunCommand::Plan => counts,
        RunCommand::Apply => format!("applied {counts}"),
        RunCommand::Destroy => format!("destroyed {counts}"),
        RunCommand::Drift => format!("drifted {counts}"),
        RunCommand::Test => "passed".to_owned(),
    }
}

/// Which stacks the table leaves out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Fold {
    /// None.
    Nothing,
    /// Those of which there is nothing to say; they are counted.
    Quiet,
}

/// Returns the lines of the table.
pub(super) fn table(report: &RunReport, fold: Fold) -> Vec<String> {
    let is_shown = |stack: &&StackReport| fold == Fold::Nothing || !is_quiet(report.command, stack.result);
    let mut table = Table::new(["stack", "result", "add", "change", "destroy", "time"]);
    for stack in report.stacks.iter().filter(is_shown) {
        let counts = stack.counts();
        table.row([
            stack.id.to_string(),
            format!("{} {}", sign(stack.result), result_word(report.command, stack)),
            (counts.add + counts.replace).to_string(),
            counts.change.to_string(),
            (counts.destroy + counts.replace).to_string(),
            human_duration(stack.duration_s),
        ]);
    }
    table.right(&[2, 3, 4, 5]);
    let mut lines = table.lines();
    let folded = report.stacks.iter().filter(|stack| !is_shown(stack)).count();
    if folded > 0 {
        lines.push(format!(" … and {folded} more"));
    }
    lines
}

fn result_word(command: RunCommand, report: &StackReport) -> &'static str {
    match (report.result, command) {
        (StackResult::Succeeded, RunCommand::Init) => "initialised",
        (StackResult::Succeeded, RunCommand::Validate) => "valid",
        (StackResult::Succeeded, RunCommand::Plan) => "changes",
        (StackResult::Succeeded, RunCommand::Apply) => "applied",
        (StackResult::Succeeded, RunCommand::Destroy) => "destroyed",
        (StackResult::Succeeded, RunCommand::Drift) => "drifted",
        (StackResult::Succeeded, RunCommand::Test) => "passed",
        (StackResult::NoChanges, RunCommand::Drift) => "no drift",
        (StackResult::NoChanges, RunCommand::Test) => "no tests",
        (StackResult::NoChanges, _) => "no changes",
        (StackResult::Failed, _) => "failed",
        (StackResult::Skipped, _) => "skipped",
        (StackResult::Deferred, _) => "deferred",
        (StackResult::Interrupted, _) => "interrupted",
    }
}

/// Returns whether there is nothing to say of a stack but that it was there.
pub(super) const fn is_quiet(command: RunCommand, result: StackResult) -> bool {
    let only_checks = matches!(command, RunCommand::Init | RunCommand::Validate | RunCommand::Test);
    match result {
        StackResult::NoChanges => true,
        StackResult::Succeeded => only_checks,
        StackResult::Failed | StackResult::Skipped | StackResult::Deferred | StackResult::Interrupted => {
            false
        }
    }
}

/// Writes the table of a finished run, with the reasons, to stdout.
pub fn show_report(terminal: &Terminal, report: &RunReport) {
    table(report, Fold::Nothing).iter().for_each(|line| terminal.data_line(&format!(" {line}")));
    for stack in &report.stacks {
        let why = stack.error.as_ref().map(|error| &error.summary).or(stack.reason.as_ref());
        if let Some(why) = why {
            terminal.data_line(&format!("  {} {}: {why}", sign(stack.result), stack.id));
        }
    }
    terminal.data_line(&format!("  {}", count_line(report)));
}

/// Returns the line that counts the results.
pub(super) fn count_line(report: &RunReport) -> String {
    let mut words: Vec<(&'static str, usize)> = Vec::new();
    for stack in &report.stacks {
        let word = match result_word(report.command, stack) {
            "changes" => "with changes",
            "no changes" => "without changes",
            word => word,
        };
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let counts = words.iter().map(|(word, count)| format!("{count} {word}"));
    format!("{} · {}", counts.collect::<Vec<_>>().join(" · "), human_duration(report.duration_s))
}
