//! Where the states of a project are kept: what the project remembers of it in `infra.lock`,
//! and the copies that outlive a checkout.

mod infra_lock;

pub use infra_lock::{InfraLock, KnownState};
