//! What all stacks of a command share, opened once: the tofu binary, environments, homes of
//! states, keys of plans, the requests to stop. Begin at [`Session::open`].

mod environment;
mod plan_bytes;
mod plan_calls;
mod plan_keys;
mod progress;
mod repository;
mod shared;
mod source;
mod state_homes;
mod surroundings;

pub(super) use plan_calls::plan_form;
pub(super) use plan_keys::PlanHome;
pub use plan_keys::can_bind_plans;
pub use repository::Surroundings;
pub use shared::{Session, SessionParts, StateNeed};
pub(super) use source::{file_fingerprint, source_files, source_fingerprint};
pub(super) use surroundings::{change_around, surroundings};
