//! A state as it is now, opened: read through tofu, or from its bytes.

use zeroize::Zeroizing;

use super::encryption_folder::EncryptionFolder;
use super::sealing::is_encrypted_by_tofu;
use crate::engine::calls::successful;
use crate::engine::session::Session;
use crate::engine::stack::prepared;
use crate::error::{Result, io};
use crate::model::{Stack, StackId};
use crate::stacks;
use crate::tofu;
use crate::tofu::call;
use crate::tofu::call::InitBackend;

/// Returns the state of a stack, decrypted; empty if there is none.
pub async fn pull_state(session: &Session, id: &StackId) -> Result<Zeroizing<Vec<u8>>> {
    let base = prepared(session, session.stack(id)?).await?;
    let captured = successful(session, id, call::state_pull(base)).await?;
    Ok(captured.stdout.into_unmasked())
}

/// Returns the state of a stack as [`pull_state`] does, in a folder where tofu knows nothing of the stack but
/// its backend: no provider and no module is needed. Empty if there is none.
pub async fn pull_alone(session: &Session, stack: &Stack) -> Result<Zeroizing<Vec<u8>>> {
    let (id, folder) = (&stack.id, EncryptionFolder::with_backend(session, stack)?);
    let entries = stacks::backend_config(&session.project, stack)?;
    let base = folder.call(session, stack).await?;
    let base = entries.iter().fold(base, call::with_backend_config);
    successful(session, id, call::init(base, InitBackend::Yes, &[], session.narration())).await?;
    let mut base = folder.call(session, stack).await?;
    if let Some(name) = stack.workspace_name().filter(|_| stack.backend.has_workspaces()) {
        // One that is not there would be made.
        let list = call::workspace_list(folder.call(session, stack).await?);
        let listed = successful(session, id, list).await?.stdout.safe(&session.mask());
        if !call::listed_workspaces(&listed).iter().any(|known| known == name) {
            return Ok(Zeroizing::default());
        }
        base = base.env("TF_WORKSPACE", name);
    }
    Ok(successful(session, id, call::state_pull(base)).await?.stdout.into_unmasked())
}

/// Returns the passphrase that opens the state of a stack.
pub fn passphrase_of<'a>(session: &'a Session, id: &StackId) -> Option<&'a str> {
    Some(session.secrets_of(id)?.state_key.as_ref()?.passphrase())
}

/// Opens a state that was not read through tofu; one that only tofu can open is opened by it.
pub async fn open_state(session: &Session, id: &StackId, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let opened = open_with_passphrase(session, id, bytes);
    match session.stack(id) {
        Ok(stack) if opened.is_err() && is_encrypted_by_tofu(session, stack)? => {
            opened_by_tofu(session, stack, bytes).await
        }
        _ => opened,
    }
}

/// Lets tofu open a state of a stack that was not read through it.
async fn opened_by_tofu(session: &Session, stack: &Stack, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let folder = EncryptionFolder::of(session, stack)?;
    let file = folder.path().join("terraform.tfstate");
    std::fs::write(&file, bytes).map_err(io("write", &file))?;
    let call = call::state_pull(folder.call(session, stack).await?);
    Ok(successful(session, &stack.id, call).await?.stdout.into_unmasked())
}

/// Opens a state with the passphrase in the stack's secrets, without tofu.
pub fn open_with_passphrase(session: &Session, id: &StackId, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    tofu::open_state(bytes, passphrase_of(session, id))
}
