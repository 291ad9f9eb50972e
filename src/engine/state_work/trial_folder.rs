//! A folder in which a copy of a state is made and read back by tofu, before a stack is switched to it.

use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

use super::state_copy::keep;
use crate::backends::{StateFacts, StateHome, Storing};
use crate::engine::calls::check;
use crate::engine::session::Session;
use crate::engine::state_content::{EncryptionFolder, Sealing, with_serial};
use crate::error::{Error, Result, io};
use crate::model::{Backend, Stack};
use crate::process;
use crate::stacks::NewBackend;
use crate::state::Mark;
use crate::tofu::call::{InitBackend, PushMode};
use crate::tofu::{call, is_encrypted};

/// How alike a copy is to its original; serial and lineage are always the same.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Likeness {
    /// Every byte is the same.
    Bytes,
    /// Every byte is the same, and they are encrypted.
    EncryptedBytes,
    /// The content is the same; the new place, or tofu, writes it in its own way.
    Content,
    /// The content is the same once it is decrypted; tofu encrypts it anew for the new place.
    DecryptedContent,
}

/// The state that is copied.
pub struct CopiedState {
    /// As it lies in the old place, if that can be read without tofu.
    pub lies: Option<Zeroizing<Vec<u8>>>,
    /// As tofu reads it.
    pub state: Zeroizing<Vec<u8>>,
}

impl CopiedState {
    /// Returns the bytes for the new place; `None` if only tofu can make them.
    fn bytes(&self, session: &Session, stack: &Stack) -> Result<Option<Zeroizing<Vec<u8>>>> {
        match &self.lies {
            Some(bytes) if StateFacts::read(bytes).is_some() => Ok(Some(bytes.clone())),
            _ => Sealing::of(session, stack)?.sealed(&self.state),
        }
    }
}

/// A name that no file of the stack has.
const BACKEND_FILE: &str = "backend-to-try.infra.tf";

/// A folder with nothing but the new backend, and how the stack encrypts its state.
pub struct TrialFolder<'a> {
    session: &'a Session,
    stack: Stack,
    folder: EncryptionFolder,
    /// A file that the local backend is to have in the stack's own folder.
    local: Option<PathBuf>,
}

impl<'a> TrialFolder<'a> {
    /// Makes the folder for a backend, and for the block that describes it.
    pub fn new(
        session: &'a Session,
        stack: &Stack,
        (block, backend): (&NewBackend, &Backend),
    ) -> Result<Self> {
        let folder = EncryptionFolder::of(session, stack)?;
        let local = matches!(backend.kind(), "local").then(|| {
            let path = backend.attribute("path").unwrap_or("terraform.tfstate");
            session.dir_of(stack).join(path)
        });
        let mut block = block.clone();
        if let Some(path) = &local {
            // Relative paths would lead into the temporary folder.
            block.settings.insert("path".to_owned(), Value::from(path.display().to_string()));
        }
        let file = folder.path().join(BACKEND_FILE);
        std::fs::write(&file, block.file()).map_err(io("write", &file))?;
        let stack = Stack { backend: backend.clone(), ..stack.clone() };
        Ok(Self { session, stack, folder, local })
    }

    fn home(&self) -> Result<StateHome> {
        match &self.local {
            Some(path) => Ok(StateHome::File(path.clone())),
            None => self.session.home_in(&self.stack, self.folder.path()),
        }
    }

    /// Copies the state; what it left there when it went away is history, and is opened for it.
    pub async fn copy(&self, original: &CopiedState, mode: PushMode) -> Result<Likeness> {
        let kept = match self.stack.backend {
            Backend::Embedded => Some(self.session.home_of(&self.stack)?),
            _ => None,
        };
        let moved = match &kept {
            Some(home) => home.status().await?.and_then(|status| status.moved),
            None => None,
        };
        let (Some(home), Some(moved)) = (kept, moved) else { return self.copy_open(original, mode).await };
        home.mark(None, Mark::Lifted).await?;
        let copied = self.copy_open(original, mode).await;
        if copied.is_err() {
            home.mark(None, Mark::Moved { to: moved.to }).await?;
        }
        copied
    }

    async fn copy_open(&self, original: &CopiedState, mode: PushMode) -> Result<Likeness> {
        self.tofu(|base| call::init(base, InitBackend::Yes, &[], call::Narration::MessagesOnly)).await?;
        let home = self.home()?;
        let seen = if home.is_writable() { home.read().await? } else { None };
        self.check_free(&home, &original.state, mode).await?;
        let bytes = match home.is_writable() {
            true => original.bytes(self.session, &self.stack)?,
            false => None,
        };
        let likeness = match bytes {
            Some(bytes) => {
                let storing =
                    Storing { operation: "state migrate", bytes: &bytes, at: self.session.clock.now() };
                let unchanged =
                    |there: Option<&[u8]>| match there == seen.as_ref().map(|seen| seen.as_slice()) {
                        true => Ok(()),
                        false => Err(Error::failed("somebody stored another state there meanwhile")),
                    };
                let stored = home.store(storing, unchanged).await?;
                let likeness = if is_encrypted(&bytes) { Likeness::EncryptedBytes } else { Likeness::Bytes };
                if stored == bytes { likeness } else { Likeness::Content }
            }
            None => {
                self.push(&original.state, mode).await?;
                let encrypted = !matches!(Sealing::of(self.session, &self.stack)?, Sealing::Plain);
                if encrypted { Likeness::DecryptedContent } else { Likeness::Content }
            }
        };
        let copied = self.tofu(call::state_pull).await?;
        if is_same_state(&original.state, &copied) {
            Ok(likeness)
        } else {
            Err(self.differs(&original.state, &copied))
        }
    }

    /// Refuses to overwrite another state; one that may be overwritten is put aside if nobody keeps it.
    async fn check_free(&self, home: &StateHome, state: &[u8], mode: PushMode) -> Result<()> {
        let there = self.tofu(call::state_pull).await?;
        if StateFacts::of(&there).is_none_or(|there| is_earlier(&there, state))
            || is_same_state(&there, state)
        {
            return Ok(());
        }
        if mode == PushMode::Careful {
            return Err(Error::failed(format!(
                "there is a state already where `{}` is to go",
                self.stack.id
            ))
            .hint("look at it first; `--force` overwrites it"));
        }
        if !home.keeps_versions().await
            && let Ok(Some(bytes)) = home.read().await
        {
            keep(self.session, &self.stack.id, &bytes)?;
        }
        Ok(())
    }

    /// Lets tofu store the state.
    ///
    /// It gives the first one in an empty place a lineage of its own, and raises the serial
    /// of every later one; so the second comes with a serial that is lower by one.
    async fn push(&self, state: &[u8], mode: PushMode) -> Result<()> {
        self.tofu(|base| call::state_push_with(base, state.to_vec(), mode)).await?;
        if is_same_state(state, &self.tofu(call::state_pull).await?) {
            return Ok(());
        }
        let earlier = with_lower_serial(state)?;
        self.tofu(|base| call::state_push_with(base, earlier, PushMode::Forced)).await?;
        Ok(())
    }

    fn differs(&self, state: &[u8], copied: &[u8]) -> Error {
        Error::failed(format!("the copy of the state of `{}` is not the same", self.stack.id))
            .fact("original", described(state))
            .fact("copy", described(copied))
            .hint("nothing was switched: the stack still uses its old state")
    }

    async fn tofu(
        &self,
        call: impl FnOnce(process::Invocation) -> process::Invocation,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let base = self.folder.call(self.session, &self.stack).await?;
        let captured = process::capture(call(base), &self.session.interrupts).await?;
        check(self.session, &self.stack.id, &captured)?;
        Ok(captured.stdout.into_unmasked())
    }
}

/// Returns whether a state is an earlier one of another, which was here before.
fn is_earlier(there: &StateFacts, state: &[u8]) -> bool {
    StateFacts::of(state).is_some_and(|facts| facts.lineage == there.lineage && there.serial < facts.serial)
}

/// Returns whether two states are the same: serial, lineage and all content.
///
/// Not the version of tofu, which writes its own.
pub fn is_same_state(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let mut state: Value = serde_json::from_slice(bytes).ok()?;
        state.as_object_mut()?.remove("terraform_version");
        Some(state)
    };
    matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
}

fn with_lower_serial(state: &[u8]) -> Result<Vec<u8>> {
    let serial = StateFacts::read(state).map_or(0, |facts| facts.serial);
    with_serial(state, serial.saturating_sub(1))
}

fn described(state: &[u8]) -> String {
    match StateFacts::of(state) {
        Some(facts) => {
            format!("serial {}, lineage {}, {} resources", facts.serial, facts.lineage, facts.resources)
        }
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_same_by_content_and_serial_and_not_by_spaces_or_version() {
        assert!(is_same_state(
            b"{\"a\": 1, \"serial\": 3}",
            b"{\"serial\":3,\"a\":1,\"terraform_version\":\"1\"}\n"
        ));
        assert!(!is_same_state(b"{\"a\":1,\"serial\":3}", b"{\"a\":1,\"serial\":4}"));
        assert!(!is_same_state(b"{\"a\":1}", b"{\"a\":2}"));
        assert!(!is_same_state(b"{\"a\":1}", b""));
    }
}
