//! How far each stack came in a run: which step tofu was in, what it had done to resources.
//!
//! Only a stop in the middle makes it matter; then a person must see what was done and
//! what was not. Begin at [`Reached`].

use super::session::Session;
use crate::model::{Action, ChangeCounts, ResourceChange, Safe, StackId, Step, TestCounts};

/// How far a stack came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    /// The step that was begun last.
    pub step: Step,
    /// What was done to its resources, as far as tofu told.
    pub done: ChangeCounts,
    /// How its tests came out.
    pub tests: Option<TestCounts>,
}

impl Reached {
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

impl Session {
    /// Notes that tofu begins a step of a stack.
    pub(super) fn begin_step(&self, stack: &StackId, step: Step) {
        let mut reached = self.reached.borrow_mut();
        reached.entry(stack.clone()).or_insert(Reached::new(step)).step = step;
    }

    /// Notes that a resource of a stack is done.
    pub(super) fn count_done(&self, stack: &StackId, address: &Safe, action: Action) {
        if let Some(reached) = self.reached.borrow_mut().get_mut(stack) {
            reached.count(address, action);
        }
    }

    /// Notes how the tests of a stack came out.
    pub(super) fn count_tests(&self, stack: &StackId, tests: TestCounts) {
        if let Some(reached) = self.reached.borrow_mut().get_mut(stack) {
            reached.tests = Some(tests);
        }
    }

    /// Returns how far a stack came; nothing if no tofu ran for it.
    pub(super) fn reached_by(&self, stack: &StackId) -> Option<Reached> {
        self.reached.borrow().get(stack).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_while_applying_tells_what_was_done() {
        let mut reached = Reached::new(Step::Apply);
        reached.count(&"a".into(), Action::Create);
        reached.count(&"b".into(), Action::Create);
        reached.count(&"c".into(), Action::Delete);
        reached.count(&"d".into(), Action::Read);

        let words = reached.words(&StackId::new("x"));

        assert_eq!(
            words,
            "while applying; 2 created, 1 destroyed before the stop; see what is left: `infra plan x`"
        );
    }

    #[test]
    fn a_stop_before_applying_tells_that_nothing_was_changed() {
        let words = Reached::new(Step::Plan).words(&StackId::new("x"));

        assert_eq!(words, "while planning; nothing was changed");
    }
}
