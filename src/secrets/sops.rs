//! SOPS files, native: read and written as the real sops does it.
//!
//! A format is loaded into a [`tree`], walked over, and written again. Nothing here writes
//! a file, and no error holds a decrypted value. Begin at [`SopsFile`].

mod cipher;
pub mod creation_rules;
mod file;
mod format;
mod go_regex;
mod keys;
mod mac;
mod metadata;
mod plaintext;
mod refusal;
mod seal;
mod selection;
pub mod stores;
pub mod tree;

pub use creation_rules::{CreationRule, CreationRules};
pub use stores::Layout;

pub use file::{Input, RecipientChange, SopsFile, encrypt_new, is_encrypted, recipients_of, updated_keys};
pub use format::Format;
pub use mac::MacScope;
pub use selection::Selection;
pub use tree::TreePath;
