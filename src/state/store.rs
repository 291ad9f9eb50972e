//! States, their versions and their locks in an object store.
//!
//! Knows nothing of http. Where the objects lie is the matter of [`places`]; how changes exclude
//! each other is told in [`crate::state`]. Begin at [`StateStore`].

mod applied_copies;
mod decisions;
mod known_heads;
mod log;
mod log_entry;
mod marks;
mod places;
mod probe;
mod retention;
mod retry_policy;
mod state_store;
mod state_stream;
mod summary;

pub use decisions::{Claim, Locking, Unlocking, Writing};
pub use log_entry::Version;
pub use marks::{Mark, StateStatus};
pub use places::{Bucket, StorePlace, open_bucket};
pub use probe::{Probe, ProbeCheck};
pub use retention::Retention;
pub(super) use state_store::Reading;
pub use state_store::{LockedState, StateStore, new_lock_id};
pub(super) use state_stream::StateStream;
pub use summary::StateSummary;
