//! Whether a plan may be applied: what a person, a reviewer or the command line said yes
//! to, and whether that still holds.
//!
//! Pure; nobody is asked here. How a newer plan is compared with the one that was shown is
//! in `plan_diff`.

/// What is known about a plan when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanConsent {
    /// Whether it does nothing but what was shown.
    pub as_shown: bool,
    /// Whether a person of this run was shown it, and said yes.
    pub asked: bool,
    /// Whether reviewed plans are applied without a question, and it is one, or does nothing but that.
    pub reviewed: bool,
    /// Whether a yes was given beforehand.
    pub given: bool,
    /// Whether something is destroyed that must never go without a question.
    pub protected: bool,
}

impl PlanConsent {
    /// Returns whether the plan may be applied without a further question.
    pub const fn needs_no_question(self) -> bool {
        (self.as_shown && self.asked) || (!self.protected && (self.given || self.reviewed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: PlanConsent =
        PlanConsent { as_shown: false, asked: false, reviewed: false, given: false, protected: false };

    #[test]
    fn a_plan_that_nobody_saw_is_not_settled() {
        assert!(!NOBODY.needs_no_question());
        assert!(!PlanConsent { asked: true, ..NOBODY }.needs_no_question());
        assert!(!PlanConsent { as_shown: true, ..NOBODY }.needs_no_question());
    }

    #[test]
    fn what_was_reviewed_approved_or_allowed_beforehand_is_settled() {
        assert!(PlanConsent { reviewed: true, ..NOBODY }.needs_no_question());
        assert!(PlanConsent { as_shown: true, asked: true, ..NOBODY }.needs_no_question());
        assert!(PlanConsent { given: true, ..NOBODY }.needs_no_question());
    }

    #[test]
    fn a_protected_stack_needs_a_yes_to_what_was_shown() {
        let protected = PlanConsent { reviewed: true, given: true, protected: true, ..NOBODY };

        assert!(!protected.needs_no_question());
        assert!(!PlanConsent { as_shown: true, ..protected }.needs_no_question());
        assert!(!PlanConsent { asked: true, ..protected }.needs_no_question());
        assert!(PlanConsent { as_shown: true, asked: true, ..protected }.needs_no_question());
    }
}
