//! What several tofus write, each without a word of another in between.
//!
//! A stack is heard when it rests: all that it said at once. While something is changed nobody wants
//! to wait for that, so one stack is heard as it speaks, and the others when it is done.

use std::collections::BTreeMap;

use crate::model::StackId;

/// Lines that wait for their turn.
#[derive(Debug, Default)]
pub struct Voices {
    /// Who is heard as it speaks.
    speaker: Option<StackId>,
    held: BTreeMap<StackId, Vec<String>>,
    /// Those that rest and wait only for the speaker.
    resting: Vec<StackId>,
}

impl Voices {
    /// Takes a line of a stack that is changing something; returns what is to be shown now.
    pub fn speak(&mut self, stack: &StackId, line: String) -> Vec<String> {
        let speaker = self.speaker.get_or_insert_with(|| stack.clone());
        let is_heard = speaker == stack;
        self.hold(stack, line);
        if is_heard { self.held.remove(stack).unwrap_or_default() } else { Vec::new() }
    }

    /// Keeps a line until its stack rests.
    pub fn hold(&mut self, stack: &StackId, line: String) {
        self.held.entry(stack.clone()).or_default().push(line);
    }

    /// Returns what is to be shown now that a stack rests.
    pub fn rest(&mut self, stack: &StackId) -> Vec<String> {
        if self.speaker.as_ref() == Some(stack) {
            self.speaker = None;
        }
        self.resting.push(stack.clone());
        if self.speaker.is_some() {
            return Vec::new();
        }
        let resting = std::mem::take(&mut self.resting);
        resting.iter().filter_map(|stack| self.held.remove(stack)).flatten().collect()
    }

    /// Returns everything that still waits.
    pub fn all(&mut self) -> Vec<String> {
        self.speaker = None;
        std::mem::take(&mut self.held).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_heard_when_it_rests() {
        let (a, b, mut voices) = (StackId::new("a"), StackId::new("b"), Voices::default());
        voices.hold(&a, "a1".to_owned());
        voices.hold(&b, "b1".to_owned());
        voices.hold(&a, "a2".to_owned());

        assert_eq!(voices.rest(&b), ["b1"]);
        assert_eq!(voices.rest(&a), ["a1", "a2"]);
    }

    #[test]
    fn one_that_changes_something_is_heard_at_once_and_the_others_after_it() {
        let (a, b, mut voices) = (StackId::new("a"), StackId::new("b"), Voices::default());

        assert_eq!(voices.speak(&a, "a1".to_owned()), ["a1"]);
        assert!(voices.speak(&b, "b1".to_owned()).is_empty());
        assert!(voices.rest(&b).is_empty());
        assert_eq!(voices.speak(&a, "a2".to_owned()), ["a2"]);
        assert_eq!(voices.rest(&a), ["b1"]);
        voices.hold(&b, "b2".to_owned());
        assert_eq!(voices.all(), ["b2"]);
    }
}
