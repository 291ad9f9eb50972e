//! Whether a plan may be applied: what a person, a reviewer or the command line said yes
//! to, and whether a newer plan is still of the kind that was shown.
//!
//! Pure; nobody is asked here.

use crate::model::{Action, ResourceChange};

/// Returns whether a new plan does nothing but what was shown: the same actions on the same addresses,
/// or fewer. So nothing is destroyed or replaced that was not shown.
pub(super) fn is_of_the_same_kind(shown: &[ResourceChange], now: &[ResourceChange]) -> bool {
    let matters = |change: &&ResourceChange| change.action != Action::Read;
    now.iter().filter(matters).all(|change| shown.contains(change))
}

/// What is known about a plan when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    /// What the plan does.
    pub changes: &'a [ResourceChange],
    /// What somebody said yes to before, if anybody did.
    pub shown: Option<&'a [ResourceChange]>,
    /// Whether it is exactly the plan that was reviewed.
    pub reviewed: bool,
    /// Whether a yes was given beforehand.
    pub given: bool,
    /// Whether something is destroyed that must never go without a question.
    pub protected: bool,
}

impl Case<'_> {
    /// Returns whether the plan may be applied without a further question.
    pub fn is_settled(self) -> bool {
        let seen = self.shown.is_some_and(|shown| is_of_the_same_kind(shown, self.changes));
        seen || (!self.protected && (self.given || self.reviewed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(list: &[(&'static str, Action)]) -> Vec<ResourceChange> {
        list.iter()
            .map(|(address, action)| ResourceChange { address: (*address).into(), action: *action })
            .collect()
    }

    #[test]
    fn the_same_or_fewer_actions_are_of_the_same_kind() {
        let shown = changes(&[("a", Action::Create), ("b", Action::Update)]);

        assert!(is_of_the_same_kind(&shown, &shown));
        assert!(is_of_the_same_kind(&shown, &changes(&[("b", Action::Update)])));
        assert!(is_of_the_same_kind(&shown, &changes(&[("data.c", Action::Read)])));
    }

    #[test]
    fn another_address_or_another_action_is_not_of_the_same_kind() {
        let shown = changes(&[("a", Action::Update)]);

        assert!(!is_of_the_same_kind(&shown, &changes(&[("b", Action::Update)])));
        assert!(!is_of_the_same_kind(&shown, &changes(&[("a", Action::Replace)])));
        assert!(!is_of_the_same_kind(&shown, &changes(&[("a", Action::Update), ("b", Action::Delete)])));
    }

    #[test]
    fn a_protected_stack_needs_a_yes_to_what_was_shown() {
        let deleting = changes(&[("a", Action::Delete)]);
        let case = Case { changes: &deleting, shown: None, reviewed: true, given: true, protected: true };

        assert!(!case.is_settled());
        assert!(Case { shown: Some(&deleting), ..case }.is_settled());
        assert!(Case { protected: false, ..case }.is_settled());
    }
}
