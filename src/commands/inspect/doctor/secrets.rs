//! What `doctor` says about encrypted files and the keys that open them.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::trusted::Trusted;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine;
use crate::engine::{StackSecrets, Unopened};
use crate::model::{Stack, StackId};
use crate::report::{Asking, passphrase_prompt};
use crate::secrets::{KeyTrust, Keyring};
use crate::trust::TrustItemKind;

/// Opens the encrypted files; tells whether they open, and whose key files others can read.
pub async fn open_secrets(
    loaded: &LoadedProject,
    trust: &Trusted,
    context: &Context,
) -> (BTreeMap<StackId, StackSecrets>, Vec<Finding>) {
    // Nobody is asked for a passphrase by a check, and nothing that is opened leaves it.
    let prompt = passphrase_prompt(Asking::Nobody);
    let may_run = trust.with(TrustItemKind::PasswordProgram);
    let keys = if may_run { KeyTrust::ALL } else { KeyTrust::NO_PROGRAMS };
    let keyring = Keyring::load(loaded.key_places(context, keys), &prompt).await;
    let exposed = keyring.identities().exposed().iter().map(|key| {
        let message = format!("{} can be read by others (mode {:o})", key.path.display(), key.mode);
        Finding::warn("secrets", message, format!("`chmod 600 {}`", key.path.display()))
    });
    let mut findings: Vec<Finding> = exposed.collect();
    let stacks: Vec<&Stack> = loaded.stacks.iter().collect();
    let opened = engine::load_secrets(&keyring, &loaded.project, &stacks, |_| Unopened::Ends).await;
    findings.push(match &opened {
        Ok(secrets) if secrets.values().all(StackSecrets::is_empty) => {
            Finding::pass("secrets", "no encrypted files")
        }
        Ok(_) => Finding::pass("secrets", "all encrypted files open"),
        Err(error) => Finding::fail("secrets", error),
    });
    (opened.unwrap_or_default(), findings)
}
