//! The output of several tofus, never mixed.
//!
//! The lines of a stack are kept until it stops writing, and are then shown together. While stacks
//! change something, that would be too late: the lines of one of them are shown at once, and those
//! of the others when that one is done.

use std::collections::BTreeMap;

use crate::model::StackId;

/// Lines that wait for their turn.
#[derive(Debug, Default)]
pub struct StackOutput {
    /// The stack whose lines are shown at once.
    writer: Option<StackId>,
    held: BTreeMap<StackId, Vec<String>>,
    /// Stacks that have stopped writing and wait only for the writer.
    resting: Vec<StackId>,
}

impl StackOutput {
    /// Takes a line of a stack that is changing something; returns what is to be shown now.
    pub fn write(&mut self, stack: &StackId, line: String) -> Vec<String> {
        let writer = self.writer.get_or_insert_with(|| stack.clone());
        let is_shown = writer == stack;
        self.hold(stack, line);
        if is_shown { self.held.remove(stack).unwrap_or_default() } else { Vec::new() }
    }

    /// Keeps a line until its stack stops writing.
    pub fn hold(&mut self, stack: &StackId, line: String) {
        self.held.entry(stack.clone()).or_default().push(line);
    }

    /// Returns what is to be shown now that a stack has stopped writing.
    pub fn release(&mut self, stack: &StackId) -> Vec<String> {
        if self.writer.as_ref() == Some(stack) {
            self.writer = None;
        }
        self.resting.push(stack.clone());
        if self.writer.is_some() {
            return Vec::new();
        }
        let resting = std::mem::take(&mut self.resting);
        resting.iter().filter_map(|stack| self.held.remove(stack)).flatten().collect()
    }

    /// Returns everything that still waits.
    pub fn release_all(&mut self) -> Vec<String> {
        self.writer = None;
        std::mem::take(&mut self.held).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_shown_when_it_rests() {
        let (a, b, mut output) = (StackId::new("a"), StackId::new("b"), StackOutput::default());
        output.hold(&a, "a1".to_owned());
        output.hold(&b, "b1".to_owned());
        output.hold(&a, "a2".to_owned());

        assert_eq!(output.release(&b), ["b1"]);
        assert_eq!(output.release(&a), ["a1", "a2"]);
    }

    #[test]
    fn one_that_changes_something_is_shown_at_once_and_the_others_after_it() {
        let (a, b, mut output) = (StackId::new("a"), StackId::new("b"), StackOutput::default());

        assert_eq!(output.write(&a, "a1".to_owned()), ["a1"]);
        assert!(output.write(&b, "b1".to_owned()).is_empty());
        assert!(output.release(&b).is_empty());
        assert_eq!(output.write(&a, "a2".to_owned()), ["a2"]);
        assert_eq!(output.release(&a), ["b1"]);
        output.hold(&b, "b2".to_owned());
        assert_eq!(output.release_all(), ["b2"]);
    }
}
