//! An error on the screen: heading, body, hints.

use super::plan_view::visible;
use super::screen::{Terminal, Tone};
use crate::error::Error;
use crate::model::{StackError, StackId};

/// Writes an error to stderr.
pub fn show_error(terminal: &Terminal, error: &Error) {
    let heading = match error.label() {
        Some(label) => format!("error[{label}]"),
        None => "error".to_owned(),
    };
    terminal.alert(&format!("{}: {}", terminal.paint(Tone::Bad, &heading), error.message()));
    for line in error.body() {
        terminal.alert(&format!("  {line}"));
    }
    show_hints(terminal, error.hints());
}

/// Writes hints to stderr.
pub(super) fn show_hints(terminal: &Terminal, hints: &[String]) {
    for hint in hints {
        terminal.alert(&format!("{}: {hint}", terminal.paint(Tone::Warn, "hint")));
    }
}

/// Writes why a stack failed.
pub(super) fn show_stack_error(terminal: &Terminal, stack: &StackId, error: &StackError) {
    let heading = error.code.as_ref().map_or_else(|| "error".to_owned(), |code| format!("error[{code}]"));
    let named = error.summary.contains(&format!("`{stack}`"));
    let about = if named { String::new() } else { format!("{stack}: ") };
    terminal.annotate(stack.as_str(), &error.summary);
    terminal.alert(&format!("{}: {about}{}", terminal.paint(Tone::Bad, &heading), error.summary));
    error.rest_of_detail().for_each(|line| terminal.alert(&format!("  {}", visible(line))));
    let hints: Vec<String> = error.hint.iter().flat_map(|hint| hint.lines().map(str::to_owned)).collect();
    show_hints(terminal, &hints);
}
