//! A copy of a state before it is overwritten where nobody keeps versions.
//!
//! It is kept as it lies in the backend, so an encrypted state stays encrypted; where only
//! tofu can read it, the copy is sealed with the stack's own passphrase. Never in the clear
//! if the state is not. Begin at [`put_aside`].

use std::path::PathBuf;

use crate::backends::{StateFacts, StateHome};
use crate::engine::session::Session;
use crate::engine::state_content::{Sealing, pull_state};
use crate::error::{Error, Kind, Result};
use crate::model::{Stack, StackId};

/// What to do where no copy can be kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WithoutCopy {
    /// Nothing is overwritten.
    Refuse,
    /// It is overwritten all the same.
    Accept,
}

/// Copies a state without versions into `.infra/backups`; returns where to.
pub(super) async fn put_aside(
    session: &Session,
    stack: &Stack,
    home: &StateHome,
    without: WithoutCopy,
) -> Result<Option<PathBuf>> {
    if home.keeps_versions().await {
        return Ok(None);
    }
    let bytes = match home.read().await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(unread) => {
            let state = pull_state(session, &stack.id).await?;
            if StateFacts::of(&state).is_none() {
                return Ok(None);
            }
            match (Sealing::of(session, stack)?.sealed(&state)?, without) {
                (Some(sealed), _) => sealed,
                (None, WithoutCopy::Accept) => return Ok(None),
                (None, WithoutCopy::Refuse) => return Err(no_copy(stack, &unread)),
            }
        }
    };
    keep(session, &stack.id, &bytes).map(Some)
}

/// Writes a copy that belongs to its owner alone.
pub fn keep(session: &Session, id: &StackId, bytes: &[u8]) -> Result<PathBuf> {
    let time = session.clock.now().strftime("%Y%m%dT%H%M%SZ");
    let serial = StateFacts::read(bytes).map_or(0, |facts| facts.serial);
    let folder = session.project.infra_dir().join("backups").join(id.state_name().as_ref());
    let path = folder.join(format!("{time}-serial-{serial}.tfstate"));
    crate::atomic_file::write(&path, bytes)?;
    Ok(path)
}

fn no_copy(stack: &Stack, unread: &Error) -> Error {
    let id = &stack.id;
    let error = Error::new(Kind::Refused, format!("no copy of the encrypted state of `{id}` can be kept"))
        .detail(format!(
            "only tofu can read it where it lies ({}), and it gives it decrypted",
            unread.message()
        ))
        .hint("keep a copy yourself, then say `--force`");
    // One backend block is that of all workspaces, and stays.
    if unread.hints().is_empty() && stack.declared_workspace().is_none() {
        return error.hint(format!(
            "or move it to where versions are kept: `infra state migrate {id} --to embedded`"
        ));
    }
    // Whatever lets it be read, credentials as a rule, is needed to move it too.
    unread.hints().iter().fold(error, |error, hint| error.hint(hint.clone()))
}
