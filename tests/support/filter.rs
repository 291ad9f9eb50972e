//! The one filter for screens: what differs from run to run and from machine to machine becomes
//! a word in brackets, so that the rest can be compared whole.

use std::sync::LazyLock;

use regex::Regex;

/// The name of each thing that differs, what it looks like, and what stands for it.
const PATTERNS: &[(&str, &str, &str)] = &[
    // A situation's folder plays the root of the file system: what is below it has the paths of the documents.
    ("temporary folder", r"(/[^\s`/]+)*/\.tmp[A-Za-z0-9]{6}", ""),
    ("run id", r"\b\d{8}T\d{6}\.\d{3}-\d+", "[run]"),
    ("process id", r"\bprocess( +)\d+", "process$1[pid]"),
    ("id of a lock, lineage or resource", r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[id]"),
    ("shortened id", r"\b[0-9a-f]{8}(-?…)", "[id]"),
    ("public key", r"\bage1([a-z0-9]{58}|…)", "age1[key]"),
    ("moment", r"\b(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC\b", "[moment]"),
    ("age", r"\b\d+(\.\d+)? ?(s|min|h|d)( \d+ (s|min|h))? (old|ago)\b", "[age] $5"),
    ("duration behind a point", r"· (\d+ min )?\d+(\.\d+)? ?s\b", "· [duration]"),
    ("duration in the last column", r"[ ]+(\d+ min )?\d+(\.\d+)? ?s$", "  [duration]"),
    ("title of the last column", r"(destroy|replace)[ ]+time$", "$1  time"),
    ("port", r"\b127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
    ("person and machine", r"\b(holder +)\S+@\S+", "$1[user]@[host]"),
    ("parallelism of the machine", r"\b\d+ at once\b", "[n] at once"),
    ("version of tofu", r"\btofu \d+\.\d+\.\d+", "tofu [version]"),
];

static COMPILED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compile = |&(name, pattern, put): &(&str, &str, &'static str)| {
        (Regex::new(pattern).unwrap_or_else(|error| panic!("{name}: {error}")), put)
    };
    PATTERNS.iter().map(compile).collect()
});

/// Returns the lines of a screen with only what is the same everywhere.
pub fn stable(lines: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = unfolded(lines).iter().map(|line| stable_line(line)).collect();
    sort_side_by_side(&mut lines);
    sorted_plans(&lines)
}

fn stable_line(line: &str) -> String {
    COMPILED
        .iter()
        .fold(line.to_owned(), |line, (pattern, put)| pattern.replace_all(&line, *put).into_owned())
}

/// Stacks that run side by side end in any order: those of one stretch are sorted by name.
fn sort_side_by_side(lines: &mut [String]) {
    let ends = |line: &String| line.starts_with("  ✓ ") && line.ends_with("[duration]");
    lines
        .chunk_by_mut(|a, b| ends(a) == ends(b))
        .filter(|stretch| ends(&stretch[0]))
        .for_each(<[String]>::sort);
}

/// Undoes the folding of prose at 80 columns: where it folds depends on the length of paths and numbers.
fn unfolded(lines: &[String]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let begun = whole.last_mut().filter(|begun| !begun.starts_with(' ') && goes_on(&lines[at - 1], line));
        match begun {
            Some(begun) => *begun = format!("{begun} {}", line.trim_start()),
            None => whole.push(line.clone()),
        }
    }
    whole
}

/// A line goes on in the next one if the first word of that had no place; a command in backticks is one word.
fn goes_on(line: &str, next: &str) -> bool {
    let Some(rest) = next.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else { return false };
    let word = match rest.strip_prefix('`').and_then(|rest| rest.find('`')) {
        Some(end) => end + 2,
        None => rest.split(' ').next().unwrap_or(rest).chars().count(),
    };
    line.chars().count() < 80 && line.chars().count() + 1 + word > 78
}

/// Plans of stacks that run side by side are shown in any order: those that follow each other are sorted.
fn sorted_plans(lines: &[String]) -> Vec<String> {
    let (mut sorted, mut plans): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
    for line in lines {
        let begins = !line.starts_with(' ') && line.contains("  +") && line.contains(" ~");
        match plans.last_mut().filter(|_| line.starts_with(' ') && !line.starts_with("  ✓")) {
            _ if begins => plans.push(vec![line.clone()]),
            Some(plan) => plan.push(line.clone()),
            None => {
                plans.sort();
                sorted.extend(plans.drain(..).flatten());
                sorted.push(line.clone());
            }
        }
    }
    plans.sort();
    sorted.extend(plans.into_iter().flatten());
    sorted
}
