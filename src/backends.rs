//! How the state of a stack is reached, whatever its backend.
//!
//! A [`StatePlace`] is where infra keeps the states of a project: a store, or a server. A
//! [`StateHome`] is where one state lies, and what can be done with it there without tofu:
//! read, write, lock, list versions. It is made once, from the project, the stack and the
//! environment; whoever has one asks no more about kinds of backends. Begin at [`home_of`].

mod file_lock;
mod hold;
mod home_of;
mod http_state;
mod infra_lock;
mod kept_at;
mod safety_copies;
mod state_facts;
mod state_home;
mod state_place;
mod store;
mod tofu_backends;
mod workspaces;

pub use hold::Hold;
pub use home_of::{HomeParts, home_of};
pub use http_state::state_name;
pub use infra_lock::{InfraLock, KnownState};
pub use kept_at::{KeptAt, source_environment};
pub use safety_copies::{CopyFacts, Copying, SafetyCopies, SafetyCopy};
pub use state_facts::StateFacts;
pub use state_home::{Release, StateHome, StateVersions, Storing};
pub use state_place::StatePlace;
pub use store::{
    open_place, open_store_untried, read_infra_lock, remember_probe, store_environment, store_place,
};
pub use tofu_backends::{BackendRecord, noted_kind, resolved_backend, selected_workspace, workspace_in_use};
pub use workspaces::workspaces_at;
