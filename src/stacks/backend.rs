//! The backend of a stack: the block, what is given beside it, and which state it names.

mod backend_block;
mod backend_config;
mod identity;
mod key_programs;
mod relocate;
mod remarks;
mod remote_state;
mod state_key;

pub use backend_block::NewBackend;
pub use backend_config::{backend_config, backend_files, complete_backends};
pub use identity::{SharedState, identity, identity_of, partial_collisions, shared_states};
pub use key_programs::names_key_program;
pub(super) use relocate::relative;
pub use relocate::{Relocation, relocate};
pub use remarks::{StateRemark, StateRisk, backend, state_remarks, state_risks};
pub use remote_state::{Reader, StateOwners, readers_of, reads_itself};
