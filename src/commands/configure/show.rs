//! What a `configure` tells: differences for those who ask, one line for the rest.

use crate::commands::Context;
use crate::render::changes::{Changes, FileChange};
use crate::render::diff;
use crate::report::Tone;

/// Prints the difference of every file that is not as it should be.
pub(super) fn diffs(changes: &Changes, context: &Context) {
    let conflicts = changes.conflicts.iter().map(|conflict| &conflict.change);
    let mut files: Vec<&FileChange> = changes.files.iter().chain(conflicts).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for line in files.into_iter().flat_map(|change| lines(&diff::unified(change))) {
        context.terminal.data_line(&paint(&line, context));
    }
}

/// Tells what was written.
pub(super) fn summary(changes: &Changes, context: &Context) {
    let count = |of: fn(&FileChange) -> bool| changes.files.iter().filter(|change| of(change)).count();
    let added = count(|change| change.before.is_none());
    let removed = count(|change| change.after.is_none());
    let changed = changes.files.len() - added - removed;
    let parts =
        [(added, "new"), (changed, "changed"), (removed, "removed"), (changes.unchanged, "unchanged")];
    let told: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let told = if told.is_empty() { "nothing to render".to_owned() } else { told.join(", ") };
    let mark = context.terminal.paint(Tone::Good, "✓");
    context.terminal.note(&format!("  {mark} configure  {told}"));
}

fn lines(diff: &str) -> Vec<String> {
    diff.lines().map(str::to_owned).collect()
}

fn paint(line: &str, context: &Context) -> String {
    let tone = match line.as_bytes().first() {
        Some(b'+') => Tone::Good,
        Some(b'-') => Tone::Bad,
        _ => return line.to_owned(),
    };
    context.terminal.paint(tone, line)
}
