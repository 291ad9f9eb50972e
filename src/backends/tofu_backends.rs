//! States where tofu's own backends keep them: files, and buckets with their lock tables.
//!
//! States are read, and written where that is a file; locks are only looked at, since they belong to
//! tofu, which compares their ids.

mod dynamodb;
mod local_file;
mod local_lock;
mod resolved_backend;
mod s3_lock;
mod s3_object;

pub(super) use local_file::{read_state_file, write_state_file};
pub(super) use local_lock::lock_of_file;
pub use resolved_backend::{
    BackendRecord, noted_kind, resolved_backend, selected_workspace, workspace_in_use,
};
pub(super) use s3_lock::lock_of_s3;
pub(super) use s3_object::{read_s3_state, s3_workspaces};
