//! A run over many stacks: which starts when, who says yes, how each ends. Begin at
//! [`run_in_order`] and [`run_independently`].

mod begin_and_end;
mod conductor;
mod consent;
mod finish;
mod former_names;
mod independent;
mod options;
mod ordered;
mod pending_plan;
mod question;
mod resolve;
mod saved_run;
mod schedule;
mod side_by_side;
mod tally;

pub(super) use conductor::Conductor;
pub use independent::run_independently;
pub use options::{Approval, RunOptions, WhenToInit};
pub use ordered::run_in_order;
pub use resolve::{GivenFiles, RunChoice, resolve_run_plan};
