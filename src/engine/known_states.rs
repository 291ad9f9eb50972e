//! What the project remembers of its states: the entry of each in `infra.lock`, and the copy
//! on this machine.
//!
//! Written when a state is made, moved or removed, and never by a command that only reads.
//! Neither can fail a run: what cannot be written is told. Begin at [`note_state`].

use super::session::Session;
use super::state_edit::open_state;
use crate::backends::{CopyFacts, InfraLock, KeptAt, KnownState, SafetyCopies, StateFacts, StateHome};
use crate::error::Result;
use crate::events::RunEvent;
use crate::model::project::LockFile;
use crate::model::{Backend, PlanMode, Stack, StackId};
use crate::state::Mark;

/// Which entries are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Noting {
    /// Every one that is not as the state is.
    Changed,
    /// Only those that the file lacks.
    Missing,
}

/// Notes how the state of a stack stands after it was changed, or may have been.
pub async fn note_state(session: &Session, id: &StackId, mode: PlanMode) {
    let Ok(stack) = session.stack(id) else { return };
    if let Err(error) = follow(session, stack, Noting::Changed, mode).await {
        let message = format!("the state of `{id}` could not be noted: {}", error.message());
        session.events.emit(RunEvent::Warning {
            stack: Some(id.clone()),
            message,
            hints: error.hints().to_vec(),
        });
    }
}

/// Adds the states that exist and are not in the file yet.
pub async fn note_missing(session: &Session, ids: &[StackId]) {
    for id in ids {
        let known = session.infra_lock.as_ref().is_ok_and(|lock| lock.states.contains_key(id));
        if let (false, Ok(stack)) = (known, session.stack(id)) {
            // One that cannot be read is told by those who need it.
            let _ = follow(session, stack, Noting::Missing, PlanMode::Normal).await;
        }
    }
}

/// Tells which entries this command changed, in one line.
pub fn tell_noted(session: &Session) {
    let stacks: Vec<StackId> = session.noted.take().into_iter().collect();
    if !stacks.is_empty() {
        session.events.emit(RunEvent::StatesNoted { stacks });
    }
}

/// Makes the entry of a stack, and its copy, follow its state.
async fn follow(session: &Session, stack: &Stack, noting: Noting, mode: PlanMode) -> Result<()> {
    if stack.backend != Backend::Embedded || session.place.is_none() {
        return Ok(());
    }
    let home = session.home_of(stack)?;
    let bytes = home.read().await?.unwrap_or_default();
    let Some(facts) = StateFacts::of(&bytes) else { return Ok(()) };
    if noting == Noting::Changed {
        keep_copy(session, stack, &facts, &bytes);
        claim(session, &home).await;
    }
    let is_gone = is_empty(session, &stack.id, &bytes, mode);
    match (noting, is_gone) {
        (Noting::Missing, true) => Ok(()),
        (_, true) => note_lineage(session, &stack.id, None),
        (_, false) => note_lineage(session, &stack.id, Some(facts.lineage)),
    }
}

/// Writes or removes the entry of a stack.
pub(super) fn note_lineage(session: &Session, id: &StackId, lineage: Option<String>) -> Result<()> {
    let project = &session.project;
    if project.state.lock_file == LockFile::Off {
        return Ok(());
    }
    let kept = KeptAt::of(project)?.text().to_owned();
    let changed = InfraLock::update(&project.root, &project.infra_dir(), |lock| match lineage {
        Some(lineage) => drop(lock.states.insert(id.clone(), KnownState { lineage, kept })),
        None => drop(lock.states.remove(id)),
    })?;
    if changed {
        session.noted.borrow_mut().insert(id.clone());
    }
    Ok(())
}

/// Returns whether nothing is left of a stack after it was destroyed.
///
/// A state that only tofu can open is believed to be empty then.
fn is_empty(session: &Session, id: &StackId, bytes: &[u8], mode: PlanMode) -> bool {
    let opened = open_state(session, id, bytes).ok();
    let facts = opened.and_then(|state| StateFacts::of(&state));
    mode == PlanMode::Destroy && facts.is_none_or(|facts| facts.resources == 0)
}

/// Keeps the newest version of a state in the user's own folder, if a folder is all that has it.
fn keep_copy(session: &Session, stack: &Stack, facts: &StateFacts, bytes: &[u8]) {
    let project = &session.project;
    let is_folder = KeptAt::of(project).is_ok_and(|kept| kept.folder().is_some());
    let copies = SafetyCopies::of(&session.env, project.state.copies, session.clock);
    let Some(copies) = copies.filter(|_| is_folder) else { return };
    let facts = CopyFacts {
        project: project.is_named.then(|| project.name.clone()),
        root: project.root.clone(),
        stack: stack.id.clone(),
        lineage: facts.lineage.clone(),
        serial: facts.serial,
        written: session.clock.now(),
    };
    if let Err(error) = copies.keep(&facts, bytes) {
        tracing::warn!(%error, stack = %stack.id, "no safety copy was kept");
    }
}

/// Tells a server whose state it is; a store learns it with the write itself.
async fn claim(session: &Session, home: &StateHome) {
    let project = &session.project;
    if !project.is_named || !matches!(home, StateHome::Server(_)) {
        return;
    }
    let unclaimed = home.status().await.ok().flatten().is_some_and(|status| status.project.is_none());
    if unclaimed {
        // A user without the right, or a server of another kind, changes nothing about the run.
        let _ = home.mark(None, Mark::OfProject(project.name.clone())).await;
    }
}
