//! What OpenTofu says is wrong: passed through structured, never re-worded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Safe;

/// How bad it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The command fails.
    Error,
    /// The command goes on.
    Warning,
}

/// One diagnostic of OpenTofu.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One line, constant for the sort of problem.
    pub summary: Safe,
    /// What happened and why.
    pub detail: Safe,
    /// The resource it is about.
    pub address: Option<Safe>,
    /// `file:line:column`, relative to the stack.
    pub place: Option<Safe>,
    /// The lines that stand there, with their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Safe>,
    /// Which of the words that are acted on it contains, found before anything was masked.
    #[serde(skip)]
    pub signs: Vec<&'static str>,
}

impl Diagnostic {
    /// Returns whether the summary or the detail contains the text, however OpenTofu wrapped it.
    pub fn mentions(&self, text: &str) -> bool {
        self.signs.contains(&text) || is_in(text, &self.summary, &self.detail)
    }
}

/// Returns whether a summary or a detail contains the text, however OpenTofu wrapped it.
pub fn is_in(text: &str, summary: &str, detail: &str) -> bool {
    summary.contains(text) || unwrapped(detail).contains(text)
}

/// Joins lines that were wrapped for a narrow terminal.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_a_line_break() {
        let diagnostic = Diagnostic {
            severity: Severity::Error,
            summary: "Error".into(),
            detail: "the endpoint\n  requires auth".into(),
            address: None,
            place: None,
            code: None,
            signs: vec!["state lock"],
        };

        assert!(diagnostic.mentions("endpoint requires auth"));
        assert!(diagnostic.mentions("state lock"));
        assert!(!diagnostic.mentions("invalid auth"));
    }
}
