//! Reads on where a file makes no sense: whatever looks like the head of a block of OpenTofu, at
//! the beginning of a line, begins a block, and what stands up to the next one belongs to it.

use super::tree::{Body, Parser};

/// The blocks of OpenTofu's language.
const KINDS: [&str; 13] = [
    "check",
    "data",
    "ephemeral",
    "import",
    "locals",
    "module",
    "moved",
    "output",
    "provider",
    "removed",
    "resource",
    "terraform",
    "variable",
];

/// Adds what can be found from a place on.
pub(super) fn read_from<'a>(text: &'a str, start: usize, body: &mut Body<'a>) {
    let mut starts = vec![start];
    starts.extend(heads(text, start));
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    for (start, end) in starts.iter().zip(ends) {
        let mut parser = Parser::new(text, *start..end);
        while parser.has_more() {
            parser.item(body);
        }
    }
}

/// Returns where the heads of blocks stand behind a place.
fn heads(text: &str, start: usize) -> impl Iterator<Item = usize> {
    let rest = text.get(start..).unwrap_or_default();
    let lines = rest.match_indices('\n').map(move |(newline, _)| start + newline + 1);
    lines.filter(|line| is_head(text.get(*line..).unwrap_or_default()))
}

fn is_head(line: &str) -> bool {
    let line = line.split('\n').next().unwrap_or_default();
    let opens = |rest: &str| rest.starts_with([' ', '\t', '"', '{']) && rest.contains('{');
    KINDS.iter().any(|kind| line.strip_prefix(kind).is_some_and(opens))
}
