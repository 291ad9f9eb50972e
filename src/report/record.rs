//! What is kept of a run below `.infra/runs`, and what earlier runs tell.

mod durations;
mod file_names;
mod history;
mod recorded_plan;
mod renamed_runs;
mod resume;
mod run_record;

pub use durations::read_durations;
pub use history::PastRun;
pub use recorded_plan::RecordedPlans;
pub use renamed_runs::rename_in_runs;
pub use resume::{ResumeRequest, Resumption, resumption};
pub use run_record::{Begun, RunRecord, Unfinished};
