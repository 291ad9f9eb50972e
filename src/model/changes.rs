//! What a plan does: actions on resources, attribute by attribute, and how two plans differ.

mod change;
mod change_detail;
mod difference;

pub use change::{Action, ChangeCounts, ReportedChange, ResourceChange};
pub use change_detail::{AttributeChange, ChangeDetail, ChangeSubject, ChangedLine};
pub use difference::{PlanDifference, ValueDifference, excerpts};
