//! What a `configure` tells: differences for those who ask, one line for the rest.

use crate::commands::Context;
use crate::render::{Conflict, ConflictReason, FileChange, TreeChanges, unified_diff};
use crate::report::Tone;

/// Prints the difference of every file that is not as it should be.
pub(super) fn diffs(changes: &TreeChanges, context: &Context) {
    let conflicts = changes.conflicts.iter().map(|conflict| &conflict.change);
    let mut files: Vec<&FileChange> = changes.files.iter().chain(conflicts).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    for line in files.into_iter().flat_map(|change| lines(&unified_diff(change))) {
        context.terminal.data_line(&paint(&line, context));
    }
}

/// Tells what only `--force` replaces.
pub(super) fn conflicts(changes: &TreeChanges, context: &Context) {
    for conflict in &changes.conflicts {
        let warning = context.terminal.paint(Tone::Warn, "warning");
        context.terminal.note(&format!("{warning}: {}; only `--force` undoes that", words_for(conflict)));
    }
}

/// Says what a person did to a file.
pub(super) fn words_for(conflict: &Conflict) -> String {
    let path = conflict.change.path.display();
    match conflict.reason {
        ConflictReason::Edited => format!("`{path}` was edited by hand since it was generated"),
        ConflictReason::Foreign => format!("`{path}` is there and was not generated"),
    }
}

/// Tells whether the tree is as the templates say.
pub(super) fn staleness(changes: &TreeChanges, context: &Context) {
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let (stale, fresh) = (changes.files.len() + changes.conflicts.len(), changes.unchanged);
    context.terminal.note(&match (stale, changes.files.len()) {
        (0, _) => format!("{} up to date", files(fresh)),
        (_, 0) => format!("{} stale, {} up to date", files(stale), fresh),
        _ => format!("{} stale, {} up to date; `infra configure` writes them", files(stale), fresh),
    });
}

/// Tells what was written.
pub(super) fn summary(changes: &TreeChanges, context: &Context) {
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
