//! Whether a plan may be applied: what a person, a reviewer or the command line said yes
//! to, and whether that still holds.
//!
//! Pure; nobody is asked here. How a newer plan is compared with the one that was shown is
//! in `plan_diff`.

/// What is known about a plan when its turn comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Consent {
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

impl Consent {
    /// Returns whether the plan may be applied without a further question.
    pub const fn is_settled(self) -> bool {
        (self.as_shown && self.asked) || (!self.protected && (self.given || self.reviewed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Consent =
        Consent { as_shown: false, asked: false, reviewed: false, given: false, protected: false };

    #[test]
    fn a_plan_that_nobody_saw_is_not_settled() {
        assert!(!NOBODY.is_settled());
        assert!(!Consent { asked: true, ..NOBODY }.is_settled());
        assert!(!Consent { as_shown: true, ..NOBODY }.is_settled());
    }

    #[test]
    fn what_was_reviewed_approved_or_allowed_beforehand_is_settled() {
        assert!(Consent { reviewed: true, ..NOBODY }.is_settled());
        assert!(Consent { as_shown: true, asked: true, ..NOBODY }.is_settled());
        assert!(Consent { given: true, ..NOBODY }.is_settled());
    }

    #[test]
    fn a_protected_stack_needs_a_yes_to_what_was_shown() {
        let protected = Consent { reviewed: true, given: true, protected: true, ..NOBODY };

        assert!(!protected.is_settled());
        assert!(!Consent { as_shown: true, ..protected }.is_settled());
        assert!(!Consent { asked: true, ..protected }.is_settled());
        assert!(Consent { as_shown: true, asked: true, ..protected }.is_settled());
    }
}
