//! Which keys a command may use that shows the content of a file to the person alone.

use std::path::Path;

use super::items::program_item;
use super::require::untrusted;
use crate::commands::Context;
use crate::model::SecretsSettings;
use crate::secrets::{KeyTrust, vault};

/// Returns what may open files whose content goes to the person alone: all of their keys, and the
/// program that `infra.yaml` names for a password if the project is trusted with it.
pub fn key_trust(root: &Path, settings: &SecretsSettings, context: &Context) -> KeyTrust {
    let path = settings.ansible_vault_password_file.as_deref();
    let program = path.and_then(|path| vault::password_program(root, path, &context.env));
    let item = program.and_then(|path| program_item(root, &path).ok());
    match item.map(|item| untrusted(root, vec![item], context)) {
        Some(Ok(missing)) if missing.is_empty() => KeyTrust::ALL,
        _ => KeyTrust::NO_PROGRAMS,
    }
}
