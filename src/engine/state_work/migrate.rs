//! A state on its way from one backend to another: copied, compared, then switched to.
//!
//! The bytes go as they lie, under the lock of the new place, wherever that can be written
//! without tofu; else tofu writes them. Either way the real tofu reads the copy back, in a
//! folder of its own that holds nothing but the new backend block and what the stack says about
//! encryption, so the stack's files change last and only when the copy is right. The old state
//! stays. Begin at [`migrate_state`].

use std::path::{Path, PathBuf};

use super::backend_edit::BackendEdit;
use super::trial_folder::{CopiedState, Likeness, TrialFolder, is_same_state};
use crate::backends::{Hold, StateFacts, StateHome, selected_workspace};
use crate::engine::calls::LeftBehind;
use crate::engine::session::Session;
use crate::engine::state_check::{keep_safety_copy, note_lineage};
use crate::engine::state_content::{open_state, pull_state};
use crate::error::{Error, Result, io};
use crate::model::{Backend, Stack, StackId};
use crate::stacks;
use crate::stacks::NewBackend;
use crate::state::Mark;
use crate::tofu::call::PushMode;

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
    /// What was copied, and how alike the copy is; `None` if the stack has no state yet.
    pub copied: Option<(StateFacts, Likeness)>,
    /// The file whose backend block is new; `None` where it named the place already.
    pub file: Option<PathBuf>,
    /// What the old state is called now, if it had to be renamed.
    pub aside: Option<PathBuf>,
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
    let likeness = TrialFolder::new(session, stack, (&migration.block, &migration.backend))?
        .copy(&original, migration.mode)
        .await?;
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
        let likeness = TrialFolder::new(session, stack, (&migration.block, &migration.backend))?
            .copy(&original, migration.mode)
            .await?;
        if !is_same_state(&original.state, &pull_state(session, id).await?) {
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
