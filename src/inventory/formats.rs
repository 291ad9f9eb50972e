//! The forms of an inventory as text.

mod ini;
mod literal;
mod script;
mod ssh;
mod yaml;

pub use ini::ini;
pub use script::script;
pub use ssh::{Written, ssh_config};
pub use yaml::yaml;
