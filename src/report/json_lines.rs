//! The events as JSON, one a line, on stdout.

use super::listen::Report;
use super::screen::Terminal;
use crate::events::NumberedEvent;

/// Streams events to a machine.
#[derive(Debug)]
pub struct JsonLines(Terminal);

impl JsonLines {
    /// Writes to this terminal's stdout.
    pub const fn new(terminal: Terminal) -> Self {
        Self(terminal)
    }
}

impl Report for JsonLines {
    fn event(&mut self, event: &NumberedEvent) {
        if let Ok(line) = serde_json::to_string(event) {
            self.0.data_line(&line);
        }
    }
}
