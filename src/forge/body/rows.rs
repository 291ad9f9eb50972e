//! The table of a comment: a row for each stack that changes, failed or waits, the gravest first.

use super::text::cell;
use super::told::PlannedStack;
use crate::model::{StackReport, StackResult};

/// What a row says of a stack, in the order in which rows stand.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Weight {
    /// Something that exists goes away.
    Destroys,
    /// It could not be planned.
    Failed,
    /// Something changes.
    Changes,
    /// It is not planned yet, or was not run.
    Waits,
    /// Nothing changes.
    Unchanged,
}

impl Weight {
    /// Says how grave the plan of a stack is.
    pub const fn of(report: &StackReport) -> Self {
        match report.result {
            _ if report.destroy > 0 || report.replace > 0 => Self::Destroys,
            StackResult::Failed => Self::Failed,
            StackResult::Succeeded => Self::Changes,
            StackResult::Skipped | StackResult::Deferred | StackResult::Interrupted => Self::Waits,
            StackResult::NoChanges => Self::Unchanged,
        }
    }
}

/// How much room a row takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Width {
    /// As people like to edit it.
    Wide,
    /// Without what only looks better.
    Tight,
    /// Two columns: all counts in one, and only those that are not zero.
    Narrow,
}

/// Returns the heading of the table.
pub fn heading(imports: bool, width: Width) -> String {
    if width == Width::Narrow {
        return "| stack | plan |\n|:--|:--|\n".to_owned();
    }
    let (name, line) = if imports { (" import |", "--:|") } else { ("", "") };
    format!("| stack | plan | add | change | destroy | replace |{name}\n|:--|:--|--:|--:|--:|--:|{line}\n")
}

/// Returns the row of a stack.
pub fn row(stack: &PlannedStack, older: bool, imports: bool, width: Width) -> String {
    let report = &stack.report;
    let sign = if Weight::of(report) == Weight::Destroys { "⚠ " } else { "" };
    let (id, words) = (cell(report.id.as_str()), words(stack, older));
    if width == Width::Narrow {
        let counts = narrow_counts(report);
        let words =
            if counts.is_empty() || older || stack.moved_on { format!("{words} {counts}") } else { counts };
        return format!("|{sign}{id}|{}|\n", words.trim_end());
    }
    let has_counts = matches!(report.result, StackResult::Succeeded | StackResult::NoChanges);
    let number = |count: u32| if has_counts { count.to_string() } else { String::new() };
    let counts = [report.add, report.change, report.destroy, report.replace].map(number);
    let import = imports.then(|| number(report.import));
    let cells = [format!("{sign}{id}"), words].into_iter().chain(counts).chain(import);
    match width {
        Width::Wide => cells.fold("|".to_owned(), |row, cell| format!("{row} {cell} |")) + "\n",
        Width::Tight | Width::Narrow => {
            cells.fold("|".to_owned(), |row, cell| format!("{row}{cell}|")) + "\n"
        }
    }
}

fn narrow_counts(report: &StackReport) -> String {
    let counts = [
        ("+", report.add),
        ("~", report.change),
        ("-", report.destroy),
        ("-/+", report.replace),
        ("&amp;", report.import),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(sign, count)| format!("{sign}{count}")).collect::<Vec<_>>().join(" ")
}

fn words(stack: &PlannedStack, older: bool) -> String {
    let report = &stack.report;
    let mut words = vec![match report.result {
        StackResult::Failed => "✗ failed".to_owned(),
        StackResult::NoChanges => "no changes".to_owned(),
        StackResult::Succeeded => doing(report),
        StackResult::Skipped => with_reason("skipped", report),
        StackResult::Deferred => with_reason("deferred", report),
        StackResult::Interrupted => "interrupted".to_owned(),
    }];
    if report.provisional {
        words.push(with_reason("provisional", report));
    }
    if older {
        words.push("plan of an older commit".to_owned());
    }
    if stack.moved_on {
        words.push("state moved on since".to_owned());
    }
    words.join(", ")
}

fn doing(report: &StackReport) -> String {
    let verbs = [
        (report.destroy > 0, "destroys"),
        (report.replace > 0, "replaces"),
        (report.add > 0, "creates"),
        (report.change > 0, "changes"),
        (report.import > 0, "imports"),
    ];
    let verbs: Vec<&str> = verbs.into_iter().filter(|(is_so, _)| *is_so).map(|(_, verb)| verb).collect();
    match (verbs.is_empty(), report.changes.is_empty()) {
        (false, _) => verbs.join(", "),
        // Moved, or no longer managed.
        (true, false) => "changes the state only".to_owned(),
        (true, true) => "outputs only".to_owned(),
    }
}

fn with_reason(word: &str, report: &StackReport) -> String {
    match report.reason.as_deref().map(|reason| reason.replace(['\n', '\r'], " ")) {
        Some(reason) => format!("{word}: {}", cell(&reason)),
        None => word.to_owned(),
    }
}
