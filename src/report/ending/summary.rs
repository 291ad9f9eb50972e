//! The table that ends a run over several stacks, and the words for each result.

use super::causes::{SharedCause, shared_causes};
use crate::model::{
    ChangeCounts, RunCommand, RunReport, StackId, StackReport, StackResult, TestCounts, counted,
    human_duration,
};
use crate::report::screen::{Table, Terminal, Tone, shortened, text_width};

/// Returns the sign of a result.
pub const fn result_sign(report: &StackReport) -> &'static str {
    match report.result {
        StackResult::Succeeded | StackResult::NoChanges => "✓",
        StackResult::Failed => "✗",
        StackResult::Skipped | StackResult::Deferred => "·",
        StackResult::Interrupted if report.not_begun => "·",
        StackResult::Interrupted => "!",
    }
}

/// Returns the tone of a result.
pub const fn result_tone(report: &StackReport) -> Tone {
    match report.result {
        StackResult::Succeeded | StackResult::NoChanges => Tone::Good,
        StackResult::Failed => Tone::Bad,
        StackResult::Skipped | StackResult::Deferred => Tone::Dim,
        StackResult::Interrupted if report.not_begun => Tone::Dim,
        StackResult::Interrupted => Tone::Warn,
    }
}

/// Returns what became of a stack in a few words.
pub fn result_words(command: RunCommand, report: &StackReport) -> String {
    let reason = report.reason.as_deref().unwrap_or_default();
    match report.result {
        StackResult::Succeeded | StackResult::NoChanges if report.provisional => {
            format!("{} · provisional: {reason}", settled(command, report))
        }
        StackResult::NoChanges if !reason.is_empty() => format!("{}: {reason}", settled(command, report)),
        StackResult::Succeeded | StackResult::NoChanges => settled(command, report),
        StackResult::Failed if report.counts() != ChangeCounts::default() => {
            format!("failed after {}", report.counts())
        }
        StackResult::Failed if tests(report).bad() > 0 => {
            let TestCounts { passed, skipped, .. } = tests(report);
            let bad = tests(report).bad();
            format!("failed: {bad} of {} tests", passed + bad + skipped)
        }
        StackResult::Failed => "failed".to_owned(),
        StackResult::Skipped => format!("skipped: {reason}"),
        StackResult::Deferred => format!("deferred {reason}"),
        StackResult::Interrupted if report.not_begun => "not begun".to_owned(),
        StackResult::Interrupted => format!("interrupted: {reason}"),
    }
}

fn settled(command: RunCommand, report: &StackReport) -> String {
    match report.result {
        StackResult::Succeeded => done(command, report),
        _ => plain_word(command, report).to_owned(),
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
        RunCommand::Test => match report.tests {
            Some(tests) => format!("passed {}", counted(tests.passed as usize, "test")),
            None => "passed".to_owned(),
        },
    }
}

/// Which stacks the table leaves out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OmittedStacks {
    /// None.
    Nothing,
    /// Those of which there is nothing to say; they are counted.
    Quiet,
}

/// What a table counts of a stack.
type Count = (&'static str, fn(&StackReport) -> u32);

/// Returns the columns of counts: the usual ones of a command, and those that some stack has anything in.
pub fn count_columns(report: &RunReport) -> Vec<Count> {
    let (usual, rare): (&[Count], &[Count]) = match report.command {
        RunCommand::Init | RunCommand::Validate => (&[], &[]),
        RunCommand::Test => (
            &[("passed", |of| tests(of).passed), ("failed", |of| tests(of).bad())],
            &[("skipped", |of| tests(of).skipped)],
        ),
        RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy | RunCommand::Drift => (
            &[("add", |of| of.add), ("change", |of| of.change), ("destroy", |of| of.destroy)],
            &[("replace", |of| of.replace), ("import", |of| of.import)],
        ),
    };
    let is_had = |(_, count): &&Count| report.stacks.iter().any(|stack| count(stack) > 0);
    usual.iter().chain(rare.iter().filter(is_had)).copied().collect()
}

fn tests(report: &StackReport) -> TestCounts {
    report.tests.unwrap_or_default()
}

/// Returns the lines of the table; where a screen is narrower, ids are shortened.
///
/// What many stacks have in common is told beside the table.
pub fn result_table(
    report: &RunReport,
    (fold, causes): (OmittedStacks, &[SharedCause<'_>]),
    columns: Option<usize>,
) -> Vec<String> {
    let is_told = |id: &StackId| causes.iter().any(|cause| cause.hits(id));
    let is_shown = |stack: &&StackReport| {
        let is_folded = fold == OmittedStacks::Quiet && is_quiet(report.command, stack.result);
        !is_folded && !is_told(&stack.id)
    };
    let shown: Vec<&StackReport> = report.stacks.iter().filter(is_shown).collect();
    let told: usize = causes.iter().map(|cause| cause.stacks.len()).sum();
    if told == report.stacks.len() {
        return Vec::new();
    }
    let mut lines = rows(report, &shown, usize::MAX);
    let widest = lines.iter().map(|line| text_width(line)).max().unwrap_or(0);
    // One column is the indent, and the last stays free.
    if let Some(excess) = columns.and_then(|columns| (widest + 2).checked_sub(columns)) {
        let ids = shown.iter().map(|stack| text_width(stack.id.as_str())).max().unwrap_or(0);
        lines = rows(report, &shown, ids.saturating_sub(excess).max(NARROWEST));
    }
    let folded = report.stacks.len() - shown.len() - told;
    if folded > 0 {
        lines.push(format!(" … and {folded} more"));
    }
    lines
}

/// What is left of an id at least.
const NARROWEST: usize = 12;

fn rows(report: &RunReport, shown: &[&StackReport], id_width: usize) -> Vec<String> {
    let columns = count_columns(report);
    let names = columns.iter().map(|(name, _)| *name);
    let mut table = Table::new(["stack", "result"].into_iter().chain(names).chain(["time"]));
    for stack in shown {
        let counts = columns.iter().map(|(_, count)| count(stack).to_string());
        let result = format!("{} {}", result_sign(stack), result_word(report.command, stack));
        let head = [shortened(stack.id.as_str(), id_width), result];
        table.row(head.into_iter().chain(counts).chain([human_duration(stack.duration_s)]));
    }
    table.right(&(2..columns.len() + 3).collect::<Vec<_>>());
    table.lines()
}

fn result_word(command: RunCommand, report: &StackReport) -> &'static str {
    if report.provisional { "provisional" } else { plain_word(command, report) }
}

fn plain_word(command: RunCommand, report: &StackReport) -> &'static str {
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
        (StackResult::Interrupted, _) if report.not_begun => "not begun",
        (StackResult::Interrupted, _) => "interrupted",
    }
}

/// Returns whether there is nothing to say of a stack but that it was there.
pub const fn is_quiet(command: RunCommand, result: StackResult) -> bool {
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
    let causes = shared_causes(report);
    let table = result_table(report, (OmittedStacks::Nothing, &[]), terminal.out_columns());
    table.iter().for_each(|line| terminal.data_line(&format!(" {line}")));
    for cause in &causes {
        let words = cause.heading(&result_words(report.command, cause.report));
        terminal.data_hanging(&format!("  {} {words}", result_sign(cause.report)), 6);
        cause.body().iter().for_each(|line| terminal.data_hanging(&format!("      {line}"), 6));
    }
    let is_alone = |stack: &&StackReport| !causes.iter().any(|cause| cause.hits(&stack.id));
    for stack in report.stacks.iter().filter(is_alone) {
        let why = stack.error.as_ref().map(|error| &error.summary).or(stack.reason.as_ref());
        if let Some(why) = why {
            terminal.data_hanging(&format!("  {} {}: {why}", result_sign(stack), stack.id), 6);
        }
    }
    terminal.data_line(&format!("  {}", count_line(report)));
}

/// Returns the line that counts the results.
pub fn count_line(report: &RunReport) -> String {
    let mut words: Vec<(&'static str, usize)> = Vec::new();
    for stack in &report.stacks {
        let word = match result_word(report.command, stack) {
            "changes" => "with changes",
            "no changes" => "without changes",
            "no drift" => "without drift",
            "no tests" => "without tests",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    fn stack(id: &str, counts: ChangeCounts) -> StackReport {
        StackReport::new(StackId::new(id), StackResult::Succeeded).with_counts(counts)
    }

    fn report(stacks: Vec<StackReport>) -> RunReport {
        let (run_id, started) = ("1".to_owned(), jiff::Timestamp::UNIX_EPOCH);
        RunReport { run_id, command: RunCommand::Plan, started, duration_s: 1.0, exit_code: 0, stacks }
    }

    #[test]
    fn the_table_counts_as_the_lines_do_and_has_rare_columns_only_where_needed() {
        let usual = ChangeCounts { add: 2, ..ChangeCounts::default() };
        let replacing = ChangeCounts { replace: 1, import: 3, ..ChangeCounts::default() };

        let plain = result_table(&report(vec![stack("a", usual)]), (OmittedStacks::Nothing, &[]), None);
        let full = result_table(
            &report(vec![stack("a", usual), stack("b", replacing)]),
            (OmittedStacks::Nothing, &[]),
            None,
        );

        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&plain[0]), ["stack", "result", "add", "change", "destroy", "time"]);
        assert_eq!(words(&full[0])[4..], ["destroy", "replace", "import", "time"]);
        assert_eq!(words(&full[2])[3..8], ["0", "0", "0", "1", "3"]);
    }

    #[test]
    fn a_provisional_plan_is_called_so_in_the_table_and_in_the_count() {
        let provisional = stack("b", ChangeCounts::default()).provisional("uses outputs of a");
        let report = report(vec![stack("a", ChangeCounts::default()), provisional]);

        assert!(result_table(&report, (OmittedStacks::Nothing, &[]), None)[2].contains("✓ provisional"));
        assert!(count_line(&report).starts_with("1 with changes · 1 provisional · "));
    }

    #[test]
    fn a_long_id_is_shortened_only_where_the_screen_is_narrower() {
        let id = format!("01-a/{}-end", "x".repeat(90));
        let report = report(vec![stack(&id, ChangeCounts::default()), stack("b", ChangeCounts::default())]);

        let narrow = result_table(&report, (OmittedStacks::Nothing, &[]), Some(80));

        assert!(narrow.iter().all(|line| text_width(line) + 1 < 80), "{narrow:#?}");
        assert!(narrow[1].contains("01-a/xxx") && narrow[1].contains("…") && narrow[1].contains("xx-end"));
        assert!(result_table(&report, (OmittedStacks::Nothing, &[]), None)[1].contains(&id));
        assert!(result_table(&report, (OmittedStacks::Nothing, &[]), Some(200))[1].contains(&id));
    }

    #[test]
    fn what_never_began_is_told_from_what_was_interrupted() {
        let stopped = |id: &str| StackReport::new(StackId::new(id), StackResult::Interrupted);
        let waiting = StackReport { not_begun: true, ..stopped("b") };
        let report = report(vec![stopped("a").with_reason("while applying"), waiting]);

        assert_eq!(result_words(report.command, &report.stacks[0]), "interrupted: while applying");
        assert!(result_table(&report, (OmittedStacks::Nothing, &[]), None)[2].contains("· not begun"));
        assert!(count_line(&report).starts_with("1 interrupted · 1 not begun · "));
    }
}
