//! How far each stack came in a run: which step tofu was in, what it had done to resources.
//!
//! Only a stop in the middle makes it matter; then a person must see what was done and
//! what was not. Begin at [`ProgressBook`].

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::model::{Action, ChangeCounts, ResourceChange, Safe, StackId, Step, TestCounts};

/// How far a stack came.
#[derive(Clone, Copy, Debug)]
pub struct StackProgress {
    /// The step that was begun last.
    pub step: Step,
    /// What was done to its resources, as far as tofu told.
    pub done: ChangeCounts,
    /// How its tests came out.
    pub tests: Option<TestCounts>,
}

impl StackProgress {
    /// Begins with a step.
    pub const fn new(step: Step) -> Self {
        let done = ChangeCounts { add: 0, change: 0, destroy: 0, replace: 0, import: 0 };
        Self { step, done, tests: None }
    }

    /// Counts a resource that is done.
    pub fn count(&mut self, address: &Safe, action: Action) {
        let change = ResourceChange::new(address.clone(), action);
        self.done = self.done.plus(ChangeCounts::of(&[change]));
    }

    /// Says what was being done when the stop came, and what is known of it.
    pub fn words(&self, stack: &StackId) -> String {
        if self.step != Step::Apply {
            return format!("while {}; nothing was changed", self.step.doing());
        }
        let ChangeCounts { add, change, destroy, replace, import } = self.done;
        let counts = [
            (add, "created"),
            (change, "changed"),
            (destroy, "destroyed"),
            (replace, "replaced"),
            (import, "imported"),
        ];
        let done = counts.iter().filter(|(count, _)| *count > 0);
        let done = done.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>();
        let done = if done.is_empty() { "nothing".to_owned() } else { done.join(", ") };
        format!("while applying; {done} before the stop; see what is left: `infra plan {stack}`")
    }
}

/// How far each stack of a run came.
#[derive(Debug, Default)]
pub struct ProgressBook(RefCell<BTreeMap<StackId, StackProgress>>);

impl ProgressBook {
    /// Notes that tofu begins a step of a stack.
    pub fn begin(&self, stack: &StackId, step: Step) {
        self.0.borrow_mut().entry(stack.clone()).or_insert(StackProgress::new(step)).step = step;
    }

    /// Notes that a resource of a stack is done.
    pub fn count_done(&self, stack: &StackId, address: &Safe, action: Action) {
        if let Some(progress) = self.0.borrow_mut().get_mut(stack) {
            progress.count(address, action);
        }
    }

    /// Notes how the tests of a stack came out.
    pub fn count_tests(&self, stack: &StackId, tests: TestCounts) {
        if let Some(progress) = self.0.borrow_mut().get_mut(stack) {
            progress.tests = Some(tests);
        }
    }

    /// Returns how far a stack came, or `None` if no tofu ran for it.
    pub fn of(&self, stack: &StackId) -> Option<StackProgress> {
        self.0.borrow().get(stack).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_while_applying_tells_what_was_done() {
        let mut progress = StackProgress::new(Step::Apply);
        progress.count(&"a".into(), Action::Create);
        progress.count(&"b".into(), Action::Create);
        progress.count(&"c".into(), Action::Delete);
        progress.count(&"d".into(), Action::Read);

        let words = progress.words(&StackId::new("x"));

        assert_eq!(
            words,
            "while applying; 2 created, 1 destroyed before the stop; see what is left: `infra plan x`"
        );
    }

    #[test]
    fn a_stop_before_applying_tells_that_nothing_was_changed() {
        let words = StackProgress::new(Step::Plan).words(&StackId::new("x"));

        assert_eq!(words, "while planning; nothing was changed");
    }
}
