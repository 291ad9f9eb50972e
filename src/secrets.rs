//! Secrets in memory: SOPS documents, age identities, Ansible Vault, and the redactor that
//! keeps what was opened out of everything that is shown.
//!
//! Plaintext reaches the disk only as the file of an editor, in memory-backed `editing`
//! folders, and no error holds a decrypted value.

pub mod editing;
mod hardening;
pub mod identities;
mod key_trust;
mod keyring;
pub mod redactor;
mod sealing;
pub mod sops;
pub mod vault;

pub use hardening::harden_process;
pub use keyring::{KeyPlaces, KeyTrust, Keyring, OpenedFile, is_sealed, not_sealed, sops_layout};
pub use sealing::{rules_above, seal_output};
