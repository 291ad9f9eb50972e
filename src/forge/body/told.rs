//! What a comment or an issue is made from: runs, and stacks with their plans.

use jiff::Timestamp;

use crate::model::StackReport;

/// A run that made plans.
#[derive(Clone, Debug)]
pub struct PlanningRun {
    /// Its id.
    pub id: String,
    /// When it began.
    pub at: Timestamp,
    /// The commit that it planned, as people know it: the head of the pull request.
    pub commit: Option<String>,
    /// Whether the pull request is at another commit by now.
    pub is_older: bool,
    /// Where people see it.
    pub address: Option<String>,
    /// What its plans are for, where that is something else than usual.
    pub purpose: Option<String>,
}

/// A stack with its plan.
#[derive(Clone, Debug)]
pub struct PlannedStack {
    /// What became of it.
    pub report: StackReport,
    /// Its plan, as tofu writes it for people.
    pub text: Vec<String>,
    /// The number of the run that planned it.
    pub run: usize,
    /// Whether its state is not the one any more that the plan was made from.
    pub moved_on: bool,
}
