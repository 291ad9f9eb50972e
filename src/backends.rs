//! Where the states of a project are kept: what the project remembers of it in `infra.lock`,
//! and the copies that outlive a checkout.

mod infra_lock;
mod safety_copies;
mod turn;

pub use infra_lock::{InfraLock, KnownState};
pub use safety_copies::{CopyFacts, Copying, SafetyCopies, SafetyCopy};
