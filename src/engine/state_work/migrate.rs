//! A state on its way from one backend to another: copied, compared, then switched to.
//!
//! The bytes go as they lie, under the lock of the new place, wherever that can be written
//! without tofu; else tofu writes them. Either way the real tofu reads the copy back, in a
//! folder of its own that holds nothing but the new backend block and what the stack says about
//! encryption, so the stack's files change last and only when the copy is right. The old state
//! stays. Begin at [`migrate_state`].

use std::path::{Path, PathBuf};

use serde_json::Value;
use zeroize::Zeroizing;

use super::backend_edit::BackendEdit;
use super::state_copy::keep;
use crate::backends::{Hold, StateFacts, StateHome, Storing, selected_workspace};
use crate::engine::calls::{LeftBehind, check};
use crate::engine::session::Session;
use crate::engine::state_check::{keep_safety_copy, note_lineage};
use crate::engine::state_content::{EncryptionFolder, Sealing, open_state, pull_state, with_serial};
use crate::error::{Error, Result, io};
use crate::model::{Backend, Stack, StackId};
use crate::process;
use crate::stacks;
use crate::stacks::NewBackend;
use crate::state::Mark;
use crate::tofu::call::{InitBackend, PushMode};
use crate::tofu::{call, is_encrypted};

/// Where a state goes, and how.
#[derive(Debug)]
pub struct Migration {
    /// The new backend block.
    pub block: NewBackend,
    /// The backend that the block describes.
    pub backend: Backend,
    /// Whether a state that is already there may be overwritten.
    pub mode: PushMode,
}

/// What became of a migration.
#[derive(Debug)]
pub struct Migrated {
    /// What was copied, and how alike the copy is; nothing if the stack has no state yet.
    pub copied: Option<(StateFacts, Likeness)>,
    /// The file whose backend block is new; nothing where it named the place already.
    pub file: Option<PathBuf>,
    /// What the old state is called now, if it had to be renamed.
    pub aside: Option<PathBuf>,
}

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

/// Copies the state, compares, and switches the stack's files.
pub async fn migrate_state(session: &Session, id: &StackId, migration: &Migration) -> Result<Migrated> {
    let stack = session.stack(id)?;
    if stack.declared_workspace().is_some() {
        let base = stack.base_id();
        return Err(Error::usage(format!(
            "`{base}` has several workspaces, and one backend block for all of them"
        ))
        .hint("put the states where they are to be by `infra state pull` and `infra state push`, one by one")
        .hint("the place of `backend \"http\" {}` moves as a whole: `infra state migrate --all`"));
    }
    check_only_the_block(session, stack)?;
    if let Some(workspace) = selected_workspace(&session.data_dir_of(stack)) {
        return Err(Error::usage(format!("`{id}` is in the workspace `{workspace}`")).hint(format!(
            "`infra tofu --stack {id} -- workspace select default`; other workspaces stay where they are"
        )));
    }
    let home = session.home_of(stack)?;
    // No run may change what is copied, nor begin on the old place while the files are switched.
    let hold = home.hold("state migrate", session.clock.now()).await?;
    let migrated = copy_and_switch(session, stack, (&home, migration)).await;
    if migrated.as_ref().is_ok_and(|migrated| migrated.copied.is_some()) {
        leave_marked(session, stack, (&home, &hold), migration).await?;
    }
    let released = home.release(hold).await;
    let migrated = migrated?;
    released?;
    note_new_home(session, stack, migration).await?;
    Ok(migrated)
}

/// Marks a state that infra kept as moved, so that an older checkout cannot go on with it.
async fn leave_marked(
    session: &Session,
    stack: &Stack,
    (home, hold): (&StateHome, &Hold),
    migration: &Migration,
) -> Result<()> {
    if stack.backend != Backend::Embedded || session.place.is_none() {
        return Ok(());
    }
    let to = format!("the {} backend in the files of {}", migration.backend.kind(), stack.id);
    home.mark(Some(hold), Mark::Moved { to }).await.map(drop)
}

/// Notes where the state of a stack is now: `infra.lock` knows those that infra keeps.
async fn note_new_home(session: &Session, stack: &Stack, migration: &Migration) -> Result<()> {
    if migration.backend != Backend::Embedded {
        return note_lineage(session, &stack.id, None);
    }
    let now = Stack { backend: Backend::Embedded, ..stack.clone() };
    let facts = session.home_of(&now)?.facts().await?;
    match facts {
        Some(facts) => note_lineage(session, &stack.id, Some(facts.lineage))?,
        None => return Ok(()),
    }
    keep_safety_copy(session, &stack.id).await;
    Ok(())
}

/// Copies a state that was left behind to where the stack's files say already that it is.
pub async fn take_along(
    session: &Session,
    id: &StackId,
    migration: &Migration,
    from: &LeftBehind,
) -> Result<Migrated> {
    let stack = session.stack(id)?;
    let home = match from {
        LeftBehind::File(file) => StateHome::File(file.clone()),
        LeftBehind::Embedded => session.home_of(&Stack { backend: Backend::Embedded, ..stack.clone() })?,
    };
    let hold = home.hold("state migrate", session.clock.now()).await?;
    let copied = copy_left(session, stack, (&home, migration)).await;
    if *from == LeftBehind::Embedded && copied.as_ref().is_ok_and(Option::is_some) {
        let kept = Stack { backend: Backend::Embedded, ..stack.clone() };
        leave_marked(session, &kept, (&home, &hold), migration).await?;
    }
    let released = home.release(hold).await;
    let copied = copied?;
    released?;
    forget_backend(session, stack)?;
    note_new_home(session, stack, migration).await?;
    let aside = match from {
        LeftBehind::File(file) => set_aside(file)?,
        LeftBehind::Embedded => None,
    };
    Ok(Migrated { copied, file: None, aside })
}

async fn copy_left(
    session: &Session,
    stack: &Stack,
    (home, migration): (&StateHome, &Migration),
) -> Result<Option<(StateFacts, Likeness)>> {
    let Some(lies) = home.read().await? else { return Ok(None) };
    let state = open_state(session, &stack.id, &lies).await?;
    let Some(facts) = StateFacts::of(&state) else {
        return Err(Error::failed(format!("what `{}` left behind is no state", stack.id)));
    };
    let original = CopiedState { lies: Some(lies), state };
    let likeness = TrialFolder::new(session, stack, migration)?.copy(&original, migration.mode).await?;
    Ok(Some((facts, likeness)))
}

async fn copy_and_switch(
    session: &Session,
    stack: &Stack,
    (home, migration): (&StateHome, &Migration),
) -> Result<Migrated> {
    let id = &stack.id;
    let edit = || BackendEdit::of(&session.project, &session.stacks, stack, &migration.block);
    // What cannot be switched is not copied either.
    edit()?;
    let before = pull_state(session, id).await?;
    let mut copied = None;
    if let Some(facts) = StateFacts::of(&before) {
        let original = CopiedState { lies: home.read().await.ok().flatten(), state: before };
        let likeness = TrialFolder::new(session, stack, migration)?.copy(&original, migration.mode).await?;
        if !same(&original.state, &pull_state(session, id).await?) {
            return Err(Error::failed(format!("the state of `{id}` changed while it was copied"))
                .hint("nothing was switched; try again when no run is at work"));
        }
        if !matches!(home, StateHome::Store { .. } | StateHome::Server(_)) {
            home.hold("state migrate", session.clock.now()).await?;
        }
        copied = Some((facts, likeness));
    }
    // Read anew: somebody may have edited the file meanwhile.
    let edit = edit()?;
    edit.write()?;
    forget_backend(session, stack)?;
    let aside = set_old_file_aside(session, stack)?;
    Ok(Migrated { copied, file: Some(edit.file), aside })
}

/// The state that is copied.
struct CopiedState {
    /// As it lies in the old place, if that can be read without tofu.
    lies: Option<Zeroizing<Vec<u8>>>,
    /// As tofu reads it.
    state: Zeroizing<Vec<u8>>,
}

impl CopiedState {
    /// Returns the bytes for the new place; nothing if only tofu can make them.
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
struct TrialFolder<'a> {
    session: &'a Session,
    stack: Stack,
    folder: EncryptionFolder,
    /// A file that the local backend is to have in the stack's own folder.
    local: Option<PathBuf>,
}

impl<'a> TrialFolder<'a> {
    fn new(session: &'a Session, stack: &Stack, migration: &Migration) -> Result<Self> {
        let folder = EncryptionFolder::of(session, stack)?;
        let local = matches!(migration.backend.kind(), "local").then(|| {
            let path = migration.backend.attribute("path").unwrap_or("terraform.tfstate");
            session.dir_of(stack).join(path)
        });
        let mut block = migration.block.clone();
        if let Some(path) = &local {
            // Relative paths would lead into the temporary folder.
            block.settings.insert("path".to_owned(), Value::from(path.display().to_string()));
        }
        let file = folder.path().join(BACKEND_FILE);
        std::fs::write(&file, block.file()).map_err(io("write", &file))?;
        let stack = Stack { backend: migration.backend.clone(), ..stack.clone() };
        Ok(Self { session, stack, folder, local })
    }

    fn home(&self) -> Result<StateHome> {
        match &self.local {
            Some(path) => Ok(StateHome::File(path.clone())),
            None => self.session.home_in(&self.stack, self.folder.path()),
        }
    }

    /// Copies the state; what it left there when it went away is history, and is opened for it.
    async fn copy(&self, original: &CopiedState, mode: PushMode) -> Result<Likeness> {
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
        if same(&original.state, &copied) {
            Ok(likeness)
        } else {
            Err(self.differs(&original.state, &copied))
        }
    }

    /// Refuses to overwrite another state; one that may be overwritten is put aside if nobody keeps it.
    async fn check_free(&self, home: &StateHome, state: &[u8], mode: PushMode) -> Result<()> {
        let there = self.tofu(call::state_pull).await?;
        if StateFacts::of(&there).is_none_or(|there| is_earlier(&there, state)) || same(&there, state) {
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
        if same(state, &self.tofu(call::state_pull).await?) {
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
fn same(one: &[u8], other: &[u8]) -> bool {
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

/// Renames the local state that the stack had: `init` would ask whether to copy it once more.
fn set_old_file_aside(session: &Session, stack: &Stack) -> Result<Option<PathBuf>> {
    let is_default = matches!(stack.backend.attribute("path"), None | Some("terraform.tfstate"));
    let file = session.dir_of(stack).join("terraform.tfstate");
    if stack.backend.kind() != "local" || !is_default || !file.exists() {
        return Ok(None);
    }
    set_aside(&file)
}

fn set_aside(file: &Path) -> Result<Option<PathBuf>> {
    // An earlier migration may have left one.
    let names = (2_u32..).map(|number| file.with_extension(format!("tfstate.moved-{number}")));
    let mut names = std::iter::once(file.with_extension("tfstate.moved")).chain(names);
    let Some(aside) = names.find(|name| !name.exists()) else { return Ok(None) };
    std::fs::rename(file, &aside).map_err(io("rename", file))?;
    Ok(Some(aside))
}

/// Refuses a stack whose backend is given more than its block: that would be given to the new one too.
fn check_only_the_block(session: &Session, stack: &Stack) -> Result<()> {
    if stacks::backend_config(&session.project, stack)?.is_empty() {
        return Ok(());
    }
    let id = &stack.id;
    Err(Error::usage(format!("the backend of `{id}` is given more than its block says"))
        .hint("write it into the block, and remove `backend_config` or the backend file")
        .hint(format!("then tell tofu: `infra init {id} -- -reconfigure`, and migrate again")))
}

/// Makes tofu forget which backend it was initialised with; the next run does it anew.
fn forget_backend(session: &Session, stack: &Stack) -> Result<()> {
    let record = session.data_dir_of(stack).join("terraform.tfstate");
    match std::fs::remove_file(&record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", &record)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_same_by_content_and_serial_and_not_by_spaces_or_version() {
        assert!(same(b"{\"a\": 1, \"serial\": 3}", b"{\"serial\":3,\"a\":1,\"terraform_version\":\"1\"}\n"));
        assert!(!same(b"{\"a\":1,\"serial\":3}", b"{\"a\":1,\"serial\":4}"));
        assert!(!same(b"{\"a\":1}", b"{\"a\":2}"));
        assert!(!same(b"{\"a\":1}", b""));
    }
}
