//! A run over many stacks: which starts when, who says yes, how each ends. Begin at [`run`].

mod conduct;
mod conductor;
mod consent;
mod finish;
mod former_names;
mod independent;
mod options;
mod ordered;
mod question;
mod resolve;
mod saved_run;
mod schedule;
mod side_by_side;
mod tally;

pub use conduct::run;
pub(super) use conductor::Conductor;
pub use options::{Approval, RunOptions, WhenToInit};
pub use resolve::{GivenFiles, RunChoice, resolve_run_plan};
