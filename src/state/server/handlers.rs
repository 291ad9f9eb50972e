//! What the server does for each kind of request, as handlers by method.

mod applied_copy;
mod lock;
mod overview;
mod page;
mod query;
mod request;
mod server_status;
mod state;
mod status;

pub(super) use applied_copy::{copy_list_methods, copy_methods};
pub(super) use lock::lock_methods;
pub(super) use overview::{list_methods, page_methods};
pub(super) use server_status::{health_methods, metrics_methods};
pub(super) use state::state_methods;
pub(super) use status::status_methods;
