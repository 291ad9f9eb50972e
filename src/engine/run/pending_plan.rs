//! What is kept of a stack while others have their turn, or a person is asked.

use std::cell::RefCell;

use jiff::SignedDuration;

use crate::engine::calls::Stop;
use crate::engine::stack::{Comparison, Planned, ShownPlan};
use crate::model::{PlanDifference, StackError};

/// What is kept of a stack between its turns: its plan, and what was said about it.
#[derive(Debug, Default)]
pub struct PendingPlan {
    /// The plan, or why there is none.
    pub outcome: Option<Result<Planned, Stop>>,
    /// Whether it was made before the stacks below had their turn.
    pub early: bool,
    /// What somebody said yes to.
    pub approved: Option<ShownPlan>,
    /// Whether somebody said no.
    pub declined: bool,
    /// Whether the stack has its result already.
    pub finished: bool,
    /// Why its plan cannot be the last word yet, or is not the one that was shown.
    pub note: Option<String>,
    /// What of the plan was not shown before, if some of it was.
    pub differences: Vec<PlanDifference>,
    /// What went wrong before somebody had to be asked.
    pub error: Option<StackError>,
    /// What planning took; a person's thinking does not count.
    pub spent: SignedDuration,
}

impl PendingPlan {
    pub fn plan(&self) -> Option<&Planned> {
        self.outcome.as_ref()?.as_ref().ok()
    }

    /// A plan that was made in its turn and is still here needs a yes.
    pub fn is_set_aside(&self) -> bool {
        !self.early && self.plan().is_some()
    }

    /// Keeps a plan until somebody was asked about it.
    pub fn set_aside(&mut self, planned: Planned, compared: Option<&Comparison>, spent: SignedDuration) {
        self.note = compared.and_then(Comparison::note);
        self.differences = compared.map(|compared| compared.differences().to_vec()).unwrap_or_default();
        (self.outcome, self.spent, self.early) = (Some(Ok(planned)), spent, false);
    }

    /// Whether its plan is not the one that somebody was shown.
    pub fn differs(&self) -> bool {
        !self.early && self.note.is_some()
    }

    /// Whether what will be done cannot be shown yet.
    pub fn is_unknown(&self) -> bool {
        self.outcome.is_some() && !self.has_changes() && self.note.is_some()
    }

    pub fn has_changes(&self) -> bool {
        self.plan().is_some_and(|planned| !planned.record.is_empty())
    }

    /// Whether a person decides about it even where reviewed plans need no question: somebody else
    /// made its plan.
    pub fn is_for_a_person(&self) -> bool {
        self.approved.is_some() || self.plan().is_some_and(|planned| planned.foreign)
    }
}

pub(super) type PendingPlans = Vec<RefCell<PendingPlan>>;

/// Returns the stacks whose pending plan is so.
pub(super) fn pending_where(
    pending_plans: &PendingPlans,
    is_so: impl Fn(&PendingPlan) -> bool,
) -> Vec<usize> {
    (0..pending_plans.len()).filter(|index| is_so(&pending_plans[*index].borrow())).collect()
}
