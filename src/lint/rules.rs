//! The rules, a file a family. Each takes folders as they were read, and returns what it found.

mod descriptions;
mod module_files;
mod module_sources;
mod providers;
mod secrets_in_files;
mod states;

pub use descriptions::descriptions;
pub use module_files::{readme, required_files};
pub use module_sources::module_sources;
pub use providers::{lock_file, provider_pins};
pub use secrets_in_files::secrets_in_files;
pub use states::{shared_states, unlocked_states};
