//! An error on the screen: heading, body, hints.

use super::terminal::{Terminal, Tone};
use crate::error::Error;

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
