//! What was last applied of each stack: a copy of its files below `.infra/applied`, from which
//! it can still be destroyed when its folder is gone. Begin at [`remember_applied`] and [`removed_stacks`].

mod copies;
mod last_record;
mod memorable;
mod remember;
mod removed_stacks;
mod shared_copies;

pub(super) use copies::{Record, forget_copy, gone_workspaces, is_remembered, recorded, rename_copy};
pub use copies::{is_copy, recorded_edges};
pub(super) use last_record::last_record;
pub(super) use remember::{remember_applied, remember_inputs};
pub(super) use removed_stacks::is_renamed;
pub use removed_stacks::{RemovedStack, removed_stacks};
pub use shared_copies::fetch_copies;
pub(super) use shared_copies::{publish_kept, withdraw_copy};
