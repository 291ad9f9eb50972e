//! Secrets in memory: SOPS documents, age identities, Ansible Vault, and the redactor that
//! keeps what was opened out of everything that is shown.
//!
//! Plaintext reaches the disk only as the file of an editor, in memory-backed `editing`
//! folders, and no error holds a decrypted value.

pub mod editing;
pub mod hardening;
pub mod identities;
mod key_trust;
pub mod keyring;
pub mod redactor;
pub mod sealing;
pub mod sops;
pub mod vault;
