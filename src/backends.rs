//! How the state of a stack is reached, whatever its backend.
//!
//! A [`StatePlace`] is where infra keeps the states of a project: a store, or a server. A
//! [`StateHome`] is where one state lies, and what can be done with it there without tofu:
//! read, write, lock, list versions. It is made once, from the project, the stack and the
//! environment; whoever has one asks no more about kinds of backends. Begin at [`home_of`].

mod http_state;
mod infra_lock;
mod resolved_backend;
mod state_facts;
mod state_file;
mod state_home;
mod state_place;
mod store;

pub use http_state::state_name;
pub use infra_lock::{InfraLock, KnownState};
pub use resolved_backend::selected_workspace;
pub use state_facts::StateFacts;
pub use state_home::{Hold, HomeParts, Release, STATE_ELSEWHERE, StateHome, StateVersions, Storing, home_of};
pub use state_place::StatePlace;
pub use store::{
    hide_from_git, open_store, open_store_untried, remember_probe, store_environment, store_place,
};
