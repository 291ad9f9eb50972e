//! Giving up the state that a stack had, on purpose: its entry in `infra.lock` goes, and what
//! lies at the old place is no longer asked about. Nothing is deleted.

use super::state_move::lock_for_move;
use crate::backends::{KeptAt, StateHome};
use crate::engine::applied::{forget_copy, removed_stacks};
use crate::engine::session::Session;
use crate::engine::state_check::{Seen, note_lineage};
use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackId};
use crate::state::{Mark, StateName, StateStatus};

/// What became of the state that was given up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Forgotten {
    /// Its entry is gone; there was nothing at any place that could be looked at.
    Entry,
    /// What lies at the place that is configured now counts from here on.
    TakenAsItIs,
    /// It was left behind at this place, with all its versions.
    LeftBehind(String),
    /// It stays where its block said, and nobody asks about it any more.
    Remembered,
    /// Nothing was known of it.
    Nothing,
}

/// How far a person goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Forgetting {
    /// One stack, by its name.
    Named,
    /// Everything that `infra.lock` knows, as in a copy of somebody else's project: what others may have is
    /// left alone.
    All,
}

/// Returns the stacks that can be forgotten.
pub fn known_stacks(session: &Session) -> Result<Vec<StackId>> {
    let lock = session.infra_lock.as_ref().map_err(Clone::clone)?;
    Ok(lock.states.keys().cloned().collect())
}

/// Gives up the state that a stack had.
pub async fn forget_state(session: &Session, id: &StackId, scope: Forgetting) -> Result<Forgotten> {
    let has_own_block = |stack: &Stack| stack.id == *id && stack.backend != Backend::Embedded;
    if session.stacks.iter().any(has_own_block) {
        note_lineage(session, id, None)?;
        return Ok(Forgotten::Entry);
    }
    if is_removed_with_own_block(session, id).await? {
        forget_copy(&session.project, id)?;
        return Ok(Forgotten::Remembered);
    }
    let name = StateName::parse(&id.state_name())?;
    let known = session.infra_lock.as_ref().map_err(Clone::clone)?.states.get(id).cloned();
    let here = KeptAt::of(&session.project)?;
    let home = session.home_named(&name)?.ok_or_else(|| Error::bug("there is no place for states"))?;
    let Seen { facts, status } = Seen::at(&home).await?;
    let in_tree = session.stacks.iter().any(|stack| stack.id == *id);
    let may_mark = may_mark(session, &status, scope);
    let is_there = status.moved.is_some() || (facts.is_some() && !in_tree);
    let outcome = if is_there && may_mark {
        leave(session, &home).await?;
        Forgotten::LeftBehind(here.text().to_owned())
    } else if let Some(facts) = facts.filter(|_| in_tree && status.other_project(&session.project).is_none())
    {
        note_lineage(session, id, Some(facts.lineage))?;
        return Ok(Forgotten::TakenAsItIs);
    } else {
        leave_at_old_places(session, &name, known.as_ref().map(|known| known.kept.as_str()), scope).await?
    };
    note_lineage(session, id, None)?;
    Ok(match outcome {
        Forgotten::Nothing if known.is_some() => Forgotten::Entry,
        outcome => outcome,
    })
}

/// Returns whether a stack that is gone from the tree had its state where its block said.
async fn is_removed_with_own_block(session: &Session, id: &StackId) -> Result<bool> {
    let removed = removed_stacks(&session.project, &session.stacks, session.clock).await?;
    Ok(removed.iter().any(|removed| removed.stack.id == *id && removed.stack.backend != Backend::Embedded))
}

/// Marks what the old places on this machine have; a network that only `infra.lock` names is not asked.
async fn leave_at_old_places(
    session: &Session,
    name: &StateName,
    kept: Option<&str>,
    scope: Forgetting,
) -> Result<Forgotten> {
    let root = &session.project.root;
    let named = kept.and_then(|kept| KeptAt::parse(kept, root).ok());
    let here = KeptAt::of(&session.project)?;
    let mut outcome = Forgotten::Nothing;
    for place in named.into_iter().chain([KeptAt::embedded(root)]) {
        if place.is_same(&here) || place.folder().is_none() {
            continue;
        }
        let Some(open) = place.open(&session.project, &session.env, session.clock)? else { continue };
        let home = open.home(name, session.env.clone())?;
        let Seen { facts, status } = Seen::at(&home).await?;
        let may_mark = status.other_project(&session.project).is_none()
            && (scope == Forgetting::Named || place.is_embedded());
        if may_mark && (facts.is_some() || status.moved.is_some()) {
            leave(session, &home).await?;
            outcome = Forgotten::LeftBehind(place.text().to_owned());
        }
    }
    Ok(outcome)
}

/// Returns whether what lies at the configured place may be given up: never what is another project's.
fn may_mark(session: &Session, status: &StateStatus, scope: Forgetting) -> bool {
    status.other_project(&session.project).is_none()
        && (scope == Forgetting::Named || !session.project.state.shared())
}

async fn leave(session: &Session, home: &StateHome) -> Result<()> {
    if home.status().await?.is_some_and(|status| status.moved.is_some()) {
        return home.mark(None, Mark::LeftBehind).await.map(drop);
    }
    let lock_for_move = lock_for_move(session, home, ("state forget_copy", "")).await?;
    let marked = home.mark(Some(&lock_for_move), Mark::LeftBehind).await;
    let released = home.release(lock_for_move).await;
    marked?;
    released
}

/// What became of a state that a project takes for its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Adopted {
    /// It belonged to this project, or to none.
    From(Option<String>),
    /// It is this project's already.
    Already,
    /// There is no state.
    NoState,
}

/// Makes the state of a stack one of this project, whoever wrote it.
pub async fn adopt_state(session: &Session, id: &StackId) -> Result<Adopted> {
    let project = &session.project;
    if !project.is_named {
        return Err(Error::usage("this project has no name, so no state can belong to it")
            .hint("give it one in infra.yaml: `name: …`"));
    }
    let home = session.home_of(session.stack(id)?)?;
    let Some(status) = home.status().await?.filter(|status| status.current.is_some()) else {
        return Ok(Adopted::NoState);
    };
    if status.project.as_ref() == Some(&project.name) {
        return Ok(Adopted::Already);
    }
    let lock_for_move = lock_for_move(session, &home, ("state adopt", "")).await?;
    let marked = home.mark(Some(&lock_for_move), Mark::OfProject(project.name.clone())).await;
    let released = home.release(lock_for_move).await;
    marked?;
    released?;
    Ok(Adopted::From(status.project))
}
