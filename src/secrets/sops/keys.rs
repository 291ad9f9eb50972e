//! The data key of a file, and the groups of master keys that hold it.

mod data_key;
mod key_group;
mod key_wrapping;
mod shamir;

pub use data_key::DataKey;
pub use key_group::{AgeKey, FOREIGN, Group, Style};
pub use key_wrapping::{Which, foreign_key, needed, unwrap_data_key, wrap_data_key};
