//! Secrets in memory: SOPS documents, age identities, Ansible Vault, and the redactor that
//! keeps what was opened out of everything that is shown.
//!
//! Nothing here writes plaintext to the disk, and no error holds a decrypted value.

pub mod identities;
pub mod sops;
