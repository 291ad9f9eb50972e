//! All states of a project on their way to the place that is configured now.
//!
//! First it is found out what lies where, without asking any place over the network that
//! nobody said yes to; then each state is moved for itself, and what is done stays done.
//! Begin at [`states_to_move`].

use std::collections::BTreeMap;

use super::state_move::{StateMove, StateMoved, broken_off};
use crate::backends::{KeptAt, StateFacts, StateHome, StatePlace, source_environment};
use crate::engine::applied::publish_kept;
use crate::engine::session::Session;
use crate::engine::state_check::{Seen, keep_safety_copy, note_lineage};
use crate::error::{Error, Result};
use crate::model::{Backend, StackError, StackId, quoted};
use crate::state::StateName;

/// A state that is not yet at the configured place.
#[derive(Debug)]
pub struct StateToMove {
    /// The stack, which may be gone from the tree.
    pub id: StackId,
    /// Where its state is.
    pub from: KeptAt,
    /// What it is; `None` where a place must be asked first.
    pub facts: Option<StateFacts>,
}

/// What is found at the places of before.
#[derive(Debug, Default)]
pub struct FoundStates {
    /// The states to move.
    pub states: Vec<StateToMove>,
    /// Why others cannot be.
    pub problems: Vec<(StackId, Error)>,
}

/// Finds the states of the chosen stacks, or of all, that are not at the configured place.
///
/// `from` is a place that a person named; without it the places in `infra.lock` and the project's own
/// folder count.
pub async fn states_to_move(
    session: &Session,
    chosen: Option<&[StackId]>,
    from: Option<&KeptAt>,
) -> Result<FoundStates> {
    check_place(from)?;
    let here = KeptAt::of(&session.project)?;
    let mut findings = FoundStates::default();
    for (id, places) in candidates(session, chosen, from, &here).await? {
        for from in places {
            match look(session, &id, &from).await {
                Ok(None) => {}
                Ok(Some(facts)) => {
                    findings.states.push(StateToMove { id: id.clone(), from, facts });
                    break;
                }
                Err(error) => findings.problems.push((id.clone(), error)),
            }
        }
    }
    Ok(findings)
}

/// Refuses a folder that a person named and that is not there.
fn check_place(from: Option<&KeptAt>) -> Result<()> {
    match from.and_then(KeptAt::folder).filter(|folder| !folder.is_dir()) {
        Some(folder) => Err(Error::usage(format!("`--from {}` is no folder", folder.display()))),
        None => Ok(()),
    }
}

/// Returns the stacks whose state may be elsewhere, each with the places to look at.
async fn candidates(
    session: &Session,
    chosen: Option<&[StackId]>,
    from: Option<&KeptAt>,
    here: &KeptAt,
) -> Result<BTreeMap<StackId, Vec<KeptAt>>> {
    let root = &session.project.root;
    let own = KeptAt::embedded(root);
    let usual = from.cloned().unwrap_or_else(|| own.clone());
    let embedded = session.stacks.iter().filter(|stack| stack.backend == Backend::Embedded);
    let mut all: BTreeMap<StackId, Vec<KeptAt>> = BTreeMap::new();
    for id in embedded.map(|stack| &stack.id) {
        all.insert(id.clone(), vec![usual.clone()]);
    }
    let lock = session.infra_lock.as_ref().map_err(Clone::clone)?;
    for (id, known) in lock.states.iter().filter(|_| from.is_none()) {
        all.entry(id.clone())
            .or_insert_with(|| vec![usual.clone()])
            .insert(0, KeptAt::parse(&known.kept, root)?);
    }
    for id in names_in(session, &usual).await? {
        all.entry(id).or_insert_with(|| vec![usual.clone()]);
    }
    all.retain(|id, _| chosen.is_none_or(|chosen| chosen.contains(id)));
    all.values_mut().for_each(|places| {
        places.retain(|place| !place.is_same(here));
        places.dedup_by(|one, other| one.is_same(other));
    });
    Ok(all)
}

/// Returns the stacks whose states a folder has, those that are gone from the tree included.
async fn names_in(session: &Session, place: &KeptAt) -> Result<Vec<StackId>> {
    // A shared folder may hold the states of others, too; the project's own does not.
    if !place.is_embedded() {
        return Ok(Vec::new());
    }
    match place.open(&session.project, &session.env, session.clock)? {
        Some(StatePlace::Store(store)) => {
            let names = store.list().await?;
            Ok(names.iter().map(|name| StackId::of_state_name(name.as_str())).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Returns what a folder has of a state; a place over the network is not asked yet.
async fn look(session: &Session, id: &StackId, from: &KeptAt) -> Result<Option<Option<StateFacts>>> {
    if from.folder().is_none() {
        return Ok(Some(None));
    }
    let Some(home) = home_at(session, id, from)? else { return Ok(None) };
    let Seen { facts, status } = Seen::at(&home).await?;
    let here = KeptAt::of(&session.project)?;
    if let Some(facts) = facts.filter(|_| !status.left_behind) {
        check_known(session, id, from, &facts)?;
        return Ok(Some(Some(facts)));
    }
    let came_here = status.moved.is_some_and(|moved| moved.to == here.full_text());
    let is_half_done = came_here && (is_unnoted(session, id, &here) || is_closed_here(session, id).await?);
    Ok(is_half_done.then_some(None))
}

/// Refuses another state than the one that `infra.lock` knows.
fn check_known(session: &Session, id: &StackId, from: &KeptAt, facts: &StateFacts) -> Result<()> {
    let known = session.known_state(id);
    match known.filter(|known| known.lineage != facts.lineage) {
        Some(known) => Err(Error::invalid(format!(
            "the state of `{id}` at `{from}` is not the one that `infra.lock` knows"
        ))
        .code(StackError::STATE_ELSEWHERE)
        .fact("known", format!("lineage {}, kept at `{}`", known.lineage, known.kept))
        .fact("found", format!("lineage {}", facts.lineage))
        .hint("take the newer `infra.lock` first: `git pull`")
        .hint(format!("if what lies there is the right one: `infra state forget {}`", quoted(id.as_str())))),
        None => Ok(()),
    }
}

/// Returns whether the new home is still closed because a move broke off.
async fn is_closed_here(session: &Session, id: &StackId) -> Result<bool> {
    let Some(home) = session.home_named(&StateName::parse(&id.state_name())?)? else { return Ok(false) };
    let moved = home.status().await?.and_then(|status| status.moved);
    Ok(moved.is_some_and(|moved| broken_off(&moved).is_some()))
}

/// Returns whether a move was ended by force before `infra.lock` knew of it.
fn is_unnoted(session: &Session, id: &StackId, here: &KeptAt) -> bool {
    let known = session.known_state(id);
    let root = &session.project.root;
    known.is_some_and(|known| KeptAt::parse(&known.kept, root).is_ok_and(|kept| !kept.is_same(here)))
}

/// Returns where a state lies at a place; `None` if the place is not there.
fn home_at(session: &Session, id: &StackId, place: &KeptAt) -> Result<Option<StateHome>> {
    let here = KeptAt::of(&session.project)?;
    let env = source_environment(session.some_environment(), place, &here);
    let Some(place) = place.open(&session.project, &env, session.clock)? else { return Ok(None) };
    place.home(&StateName::parse(&id.state_name())?, env).map(Some)
}

/// Moves one state to the configured place and notes it; `None` if there is none.
///
/// Whoever calls this has a person's yes to the place it comes from.
pub async fn bring_along(session: &Session, state: &StateToMove) -> Result<Option<StateMoved>> {
    let (id, name) = (&state.id, StateName::parse(&state.id.state_name())?);
    let Some(from) = home_at(session, id, &state.from)? else { return Ok(None) };
    let to = session.home_named(&name)?.ok_or_else(|| Error::bug("there is no place for states"))?;
    let (here, operation) = (KeptAt::of(&session.project)?, "state migrate");
    let command = match state.from.folder() {
        Some(_) if state.from.is_embedded() => "state migrate --all".to_owned(),
        _ => format!("state migrate --all --from {}", quoted(&state.from.full_text())),
    };
    let destination = here.full_text();
    let moving = StateMove { id, from: &from, to: &to, destination, command, operation };
    let moved = moving.run(session).await?;
    if let Some(moved) = &moved {
        bring_copy(&from, &to).await;
        publish_kept(session, id, &to).await;
        note_lineage(session, id, Some(moved.facts.lineage.clone()))?;
        keep_safety_copy(session, id).await;
    }
    Ok(moved)
}

/// Brings along what was last applied, for the day when the folder of the stack is gone.
pub(super) async fn bring_copy(from: &StateHome, to: &StateHome) {
    // The local copy stays in any case, and the next apply makes a new one.
    if let Ok(Some(copy)) = from.copy().await {
        let _ = to.keep_copy(copy).await;
    }
}
