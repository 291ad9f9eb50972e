//! A run as data: what is planned before it, what OpenTofu reports, and the result at the end.

mod diagnostic;
mod remaining_stacks;
mod run_origin;
mod run_plan;
mod run_report;

pub use diagnostic::{Diagnostic, Severity, is_in};
pub use remaining_stacks::{RemainingStacks, few};
pub use run_origin::RunOrigin;
pub use run_plan::{PlanMode, RunCommand, RunPlan, StackRun, Step};
pub use run_report::{RunReport, StackError, StackReport, StackResult, TestCounts};
