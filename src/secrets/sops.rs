//! SOPS files, native: read and written as the real sops does it.
//!
//! A format is loaded into a [`tree`], walked over, and written again. Nothing here
//! reads a file, and no error holds a decrypted value.

mod cipher;
pub mod creation_rules;
mod data_key;
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
pub mod tree;
mod tree_path;
mod walk;
