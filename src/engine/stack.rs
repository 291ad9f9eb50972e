//! The life of one stack in a run: init → plan → approve → apply. Begin at [`StackLife`].

mod applying;
mod bundling;
mod checks;
mod foreign_plan;
mod init;
mod kept_selection;
mod life;
mod planning;
mod prepared;
mod proving;
mod saved_plans;
mod shown_plan;
mod staleness;
mod state_mark;
mod tofu_workspaces;

pub(super) use applying::{Applied, PlanDecision};
pub use init::is_prepared_by;
pub(super) use init::{init_stack, init_whatever_is_selected};
pub(super) use life::{Planned, ShownPlan, StackLife, Upstream};
pub(super) use prepared::{bare_run, prepared};
pub(super) use saved_plans::FoundPlan;
pub(super) use shown_plan::Comparison;
pub use tofu_workspaces::{data_folder, workspace_folder};
