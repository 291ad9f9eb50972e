//! SOPS files, native: read and written as the real sops does it.
//!
//! A format is loaded into a [`tree`], walked over, and written again. Nothing here
//! reads a file, and no error holds a decrypted value.

mod cipher;
mod data_key;
mod go_regex;
mod mac;
mod plaintext;
mod refusal;
mod seal;
mod selection;
mod shamir;
pub mod tree;
mod walk;
