//! SOPS files, native: read and written as the real sops does it.

pub mod format;
pub mod stores;
pub mod tree;
