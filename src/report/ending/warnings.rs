//! Warnings that many stacks have in common: shown for the first one; the others are named at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::first_of;
use super::comparable_error::ComparableError;
use crate::model::StackId;

/// The warnings of a run so far.
#[derive(Debug, Default)]
pub struct Warnings {
    /// What was shown of each stack, so that a second step does not repeat it.
    of_stack: BTreeSet<(StackId, String)>,
    /// In the order in which they were shown first.
    shown: Vec<ShownWarning>,
    /// Where each is in that order.
    places: BTreeMap<String, usize>,
}

#[derive(Debug)]
struct ShownWarning {
    words: String,
    first: StackId,
    others: Vec<StackId>,
}

impl Warnings {
    /// Returns whether a stack has not said this before.
    pub fn is_new(&mut self, stack: &StackId, summary: &str) -> bool {
        self.of_stack.insert((stack.clone(), summary.to_owned()))
    }

    /// Notes a warning and returns whether no other stack has said it before.
    pub fn is_first(&mut self, stack: &StackId, words: &str) -> bool {
        // The place in the files is the stack's own.
        let words = words.rsplit_once(" (at ").map_or(words, |(words, _)| words);
        let key = ComparableError::of_words(stack, words).key;
        match self.places.get(&key).and_then(|place| self.shown.get_mut(*place)) {
            Some(warning) if warning.first == *stack => true,
            Some(warning) => {
                if !warning.others.contains(stack) {
                    warning.others.push(stack.clone());
                }
                false
            }
            None => {
                self.places.insert(key, self.shown.len());
                let (words, first) = (words.to_owned(), stack.clone());
                self.shown.push(ShownWarning { words, first, others: Vec::new() });
                true
            }
        }
    }

    /// Returns what several stacks said, with those of which it was not told yet.
    pub fn repeated(&self) -> Vec<String> {
        let repeated = self.shown.iter().filter(|warning| !warning.others.is_empty());
        repeated.map(ShownWarning::line).collect()
    }
}

impl ShownWarning {
    fn line(&self) -> String {
        let names: Vec<String> = self.others.iter().map(ToString::to_string).collect();
        format!("{}, as in {}: {}", self.words, self.first, first_of(&names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_warning_of_many_stacks_is_told_once_and_the_others_are_named() {
        let mut warnings = Warnings::default();
        let id = |number: usize| StackId::new(format!("s/{number}"));

        let first = warnings.is_first(&id(1), "Deprecated attribute (at main.tf:3:1)");
        let others: Vec<bool> = (2..=4)
            .map(|number| warnings.is_first(&id(number), "Deprecated attribute (at x.tf:9:1)"))
            .collect();

        assert!(first && warnings.is_first(&id(1), "another"));
        assert_eq!(others, [false; 3]);
        assert_eq!(warnings.repeated(), ["Deprecated attribute, as in s/1: s/2, s/3, s/4"]);
    }
}
