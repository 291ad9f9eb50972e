//! A client of the http backend's protocol, for `infra state serve` and for other servers.

mod remote_copies;
mod remote_state;
mod remote_status;

pub use remote_copies::CopySupport;
pub use remote_state::{RemoteState, RemoteVersions};
pub use remote_status::MarkOutcome;
