//! The plan on the screen: tofu's own text without its preamble, or the resources of a stack with
//! what changes in them.

use super::attribute_lines::{ChangeWriter, ShownChange, Values};
use super::differences::difference_lines;
use super::folding::StackChanges;
use crate::model::{ChangeCounts, ChangeDetail, PlanDifference, ResourceChange, Safe, StackId};
use crate::report::screen::{Terminal, Tone, text_width, wrap};

/// Where the part that people read begins.
const BEGINNINGS: [&str; 4] = [
    "Note: Objects have changed outside",
    " will perform the following actions:",
    "Changes to Outputs:",
    " planned the following actions, but then encountered a problem:",
];

/// A plan to be listed.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    pub stack: &'a StackId,
    pub changes: &'a [ResourceChange],
    /// How many outputs change.
    pub outputs_changed: usize,
    /// What of it was not shown before; where there is any, the rest was.
    pub differences: &'a [PlanDifference],
    /// What changes in each resource, where that is known.
    pub details: &'a [ChangeDetail],
    /// tofu's own text.
    pub text: &'a [Safe],
    /// Whether tofu's own text is wanted.
    pub full: bool,
    /// What else to know about it.
    pub note: Option<&'a str>,
}

/// Returns the lines of tofu's text, if that is wanted and there is any.
pub fn full_text(terminal: &Terminal, plan: Listing<'_>) -> Option<Vec<String>> {
    let body = changes_only(plan.text);
    let is_wanted = plan.full && !body.is_empty();
    is_wanted.then(|| body.iter().map(|line| colored(terminal, line)).collect())
}

/// Returns the resources below their stack and its counts, with their attributes where they are known.
pub fn changes(terminal: &Terminal, plan: Listing<'_>, values: Values) -> StackChanges {
    let Some(heading) = heading_of(terminal, plan) else { return StackChanges::default() };
    let writer = ChangeWriter::new(terminal, values);
    let entries: Vec<ShownChange> = match (plan.differences, plan.details) {
        ([], []) => plan.changes.iter().map(|one| writer.address(one.action, &one.address)).collect(),
        ([], details) => details.iter().map(|detail| writer.entry(detail)).collect(),
        (differences, _) => {
            let lines = differences.iter().map(|one| difference_lines(terminal, one));
            lines.map(|head| ShownChange { head, loses_something: true, ..ShownChange::default() }).collect()
        }
    };
    StackChanges { heading: heading.lines().map(str::to_owned).collect(), entries }
}

fn heading_of(terminal: &Terminal, plan: Listing<'_>) -> Option<String> {
    let body = changes_only(plan.text);
    let outputs = plan.outputs_changed > 0 || !body.is_empty();
    let counts = match plan.changes.is_empty() {
        true => outputs.then(|| "outputs only".to_owned()),
        false => Some(ChangeCounts::of(plan.changes).to_string()),
    };
    match (counts, plan.note) {
        (None, None) => None,
        (Some(counts), None) => Some(heading(terminal, plan.stack, &counts)),
        (None, Some(note)) => Some(heading(terminal, plan.stack, note)),
        (Some(counts), Some(note)) => Some(noted(terminal, &heading(terminal, plan.stack, &counts), note)),
    }
}

/// Returns the lines of a whole plan below its stack: every attribute that changes.
pub fn whole(terminal: &Terminal, plan: Listing<'_>, text: &[Safe]) -> Vec<String> {
    let body = changes_only(text);
    let lines = if body.is_empty() { text } else { body };
    let heading = heading_of(terminal, plan).into_iter().chain([String::new()]);
    heading.chain(lines.iter().map(|line| colored(terminal, line))).chain([String::new()]).collect()
}

fn heading(terminal: &Terminal, stack: &StackId, words: &str) -> String {
    let line = format!("{}  {words}", terminal.paint_data(Tone::Strong, stack.as_str()));
    fitted(terminal, &line)
}

/// Adds what else to know to a heading: behind it, or below it where the screen is too narrow.
fn noted(terminal: &Terminal, heading: &str, note: &str) -> String {
    let line = format!("{heading} · {note}");
    match terminal.out_columns() {
        Some(columns) if text_width(&line) >= columns => {
            format!("{heading} ·\n{}", fitted(terminal, &format!("    {note}")))
        }
        _ => line,
    }
}

/// Breaks a line at spaces where the screen is too narrow for it.
fn fitted(terminal: &Terminal, line: &str) -> String {
    terminal.out_columns().map_or_else(|| line.to_owned(), |columns| wrap(line, columns, 4))
}

/// Escapes what a provisioner printed: no escape sequence reaches the terminal.
pub fn visible(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\t' { '\u{fffd}' } else { char }).collect()
}

/// Returns tofu's text from the first change on.
fn changes_only(text: &[Safe]) -> &[Safe] {
    let begins = |line: &Safe| BEGINNINGS.iter().any(|beginning| line.contains(beginning));
    let start = text.iter().position(begins).unwrap_or(text.len());
    let body = &text[start..];
    let end = body.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    &body[..end]
}

/// Colours a line of tofu's text by the sign it begins with.
fn colored(terminal: &Terminal, line: &str) -> String {
    let text = line.trim_start();
    let tone = match text.split_whitespace().next() {
        Some("+") => Tone::Good,
        Some("-") => Tone::Bad,
        Some("~" | "-/+" | "+/-") => Tone::Warn,
        Some("#") => Tone::Strong,
        _ => return line.to_owned(),
    };
    format!("{}{}", &line[..line.len() - text.len()], terminal.paint_data(tone, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preamble_and_the_legend_are_cut_off() {
        let text = "a: Refreshing state...\n\nOpenTofu used the selected providers\n  + create\n\n\
                    OpenTofu will perform the following actions:\n\n  # a will be created\n\n";
        let lines: Vec<Safe> = text.lines().map(Safe::from).collect();

        assert_eq!(
            changes_only(&lines),
            ["OpenTofu will perform the following actions:", "", "  # a will be created"].map(Safe::from)
        );
    }

    #[test]
    fn a_plan_without_changes_has_no_text() {
        assert!(
            changes_only(&["No changes. Your infrastructure matches the configuration.".into()]).is_empty()
        );
    }
}
