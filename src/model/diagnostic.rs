//! What OpenTofu says is wrong: passed through structured, never re-worded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub summary: String,
    /// What happened and why.
    pub detail: String,
    /// The resource it is about.
    pub address: Option<String>,
    /// `file:line:column`, relative to the stack.
    pub place: Option<String>,
}

impl Diagnostic {
    /// Returns whether the summary or the detail contains the text, however OpenTofu wrapped it.
    pub fn mentions(&self, text: &str) -> bool {
        self.summary.contains(text) || unwrapped(&self.detail).contains(text)
    }
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
            summary: "Error".to_owned(),
            detail: "the endpoint\n  requires auth".to_owned(),
            address: None,
            place: None,
        };

        assert!(diagnostic.mentions("endpoint requires auth"));
        assert!(!diagnostic.mentions("invalid auth"));
    }
}
