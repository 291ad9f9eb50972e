//! A state as bytes and as data: opened, sealed, its serial, its instances.

mod encryption_excerpt;
mod encryption_folder;
mod pulled_state;
mod sealing;
mod state_instances;
mod state_secrets;
mod state_serial;

pub(super) use encryption_folder::EncryptionFolder;
pub use pulled_state::{open_state, pull_alone, pull_state};
pub(super) use pulled_state::{open_with_passphrase, passphrase_of};
pub(super) use sealing::Sealing;
pub(super) use state_instances::{addressed_instances, items};
pub use state_secrets::mask_shown;
pub(super) use state_secrets::{MASK, collect_leaves, is_telling, marked_leaves, unframed};
pub(super) use state_serial::with_serial;
