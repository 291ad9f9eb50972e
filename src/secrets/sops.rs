//! SOPS files, native: read and written as the real sops does it.
//!
//! A format is loaded into a [`tree`], walked over, and written again. Nothing here writes
//! a file, and no error holds a decrypted value. Begin at [`SopsFile`].

mod cipher;
pub mod creation_rules;
mod data_key;
mod file;
pub mod format;
mod go_regex;
mod key_group;
mod key_wrapping;
mod mac;
mod metadata;
mod plaintext;
mod refusal;
mod seal;
mod selection;
mod shamir;
pub mod stores;
pub mod tree;
mod tree_path;
mod walk;

pub use file::{Input, RecipientChange, SopsFile, encrypt_new, is_encrypted, recipients_of, updated_keys};
pub use mac::MacScope;
pub use selection::Selection;
pub use tree_path::TreePath;
