//! Ansible Vault 1.1 and 1.2: bytes of a file and passwords in, plaintext in memory out, and back.
//!
//! `sources` says where passwords may come from, `passwords` fetches them and opens files with
//! them, `envelope` is the text form, `cipher` the mathematics. Nothing here writes a file, and
//! no error holds plaintext or a password. Begin at [`Passwords`].

mod cipher;
mod envelope;
mod opened;
mod password;
mod passwords;
mod sources;

pub use opened::Opened;
pub use passwords::{Ask, Passwords};
pub use sources::{PasswordOrigins, PasswordSource, VaultId, password_program, vault_ids, withheld_password};

/// Returns whether the bytes of a file are an Ansible Vault, whatever its version.
pub fn is_vault(bytes: &[u8]) -> bool {
    bytes.starts_with(b"$ANSIBLE_VAULT;")
}
