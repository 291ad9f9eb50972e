//! Whether the states of stacks are where they are looked for, before tofu starts.
//!
//! tofu takes a place without a state for an infrastructure without machines, and plans to make them
//! all. `infra.lock`, the old places on this machine and the marks beside the states tell
//! whether that is so. What cannot be told is an error, never "no state". Nothing is moved
//! here, and no place is asked over the network that only `infra.lock` names. Begin at
//! [`check_states`].

use std::collections::{BTreeMap, BTreeSet};

use futures::StreamExt as _;

use super::misplaced_state::{check_project, copy_here, half_moved, moved_away, new_name_in, not_moved};
use super::missing_state::MissingState;
use super::renamed_stacks::{Rename, rename_candidates_for, renamed_error};
use super::seen_state::{Seen, described};
use super::workspace_states::former_in_backend;
use crate::backends::{KeptAt, StateFacts, StateHome, state_name};
use crate::engine::calls::{LeftBehind, left_behind, migration_command};
use crate::engine::session::Session;
use crate::engine::state_work::{broken_off, copies_of_this_checkout, release_left_behind};
use crate::error::{Error, Result};
use crate::model::{Backend, LockFile, Stack, StackError, StackId, quoted};
use crate::stacks;
use crate::state::{Moved, StateName, StateStatus};

/// How many states are looked at together.
const TOGETHER: usize = 8;

/// How many renames of one state are followed.
const LONGEST_CHAIN: usize = 20;

/// What became of a look at the states of a command.
#[derive(Debug, Default)]
pub struct StateCheck {
    /// Why stacks must not run.
    pub problems: BTreeMap<StackId, Error>,
    /// Stacks whose state still has the name of a former id, as `was` says.
    pub former: BTreeMap<StackId, StackId>,
    /// Stacks without a state that may be former ones under a new name.
    pub renames: Vec<Rename>,
    /// Why stacks of the run must not run, while all others may: several write one state.
    pub shared: BTreeMap<StackId, Error>,
}

/// How the state of a stack stands.
#[derive(Debug)]
pub(super) enum StateLocation {
    /// It is where it should be, or it is tofu's business alone.
    Here,
    /// It is there under the name of a former id.
    Former(StackId),
    /// There is none, and nobody knows of one.
    Nowhere,
}

/// Looks at the states of stacks and of those that feed them.
pub async fn check_states(session: &Session, ids: &[StackId]) -> StateCheck {
    let stacks = with_feeding(session, ids);
    let looks =
        futures::stream::iter(stacks).map(async |stack| (&stack.id, state_location(session, stack).await));
    let looked: Vec<(&StackId, Result<StateLocation>)> = looks.buffered(TOGETHER).collect().await;
    let (mut check, mut new) = (StateCheck::default(), BTreeSet::new());
    for (id, found) in looked {
        match found {
            Ok(StateLocation::Here) => {}
            Ok(StateLocation::Former(was)) => drop(check.former.insert(id.clone(), was)),
            Ok(StateLocation::Nowhere) => drop(new.insert(id.clone())),
            Err(error) => drop(check.problems.insert(id.clone(), error)),
        }
    }
    tell_of_copies(session, &new);
    match rename_candidates_for(session, &new).await {
        Ok(renames) => check.renames = renames,
        // Whether one of them is a former stack cannot be told, and that is no "no".
        Err(error) => check.problems.extend(new.into_iter().map(|id| (id, error.clone()))),
    }
    check
}

/// Tells of new stacks that were applied in this very folder before, as the copies on this machine say.
///
/// It is no reason to stop: a project may be tried out, deleted and begun anew under the same path.
fn tell_of_copies(session: &Session, new: &BTreeSet<StackId>) {
    if session.project.state.lock_file == LockFile::Off {
        return;
    }
    for (id, facts) in copies_of_this_checkout(session, new) {
        let message = format!(
            "`{id}` has no state here, but was applied in this folder before ({}): a copy of its state is kept",
            described(&facts)
        );
        let hint =
            format!("if it is the same one, bring it back: `infra state recover {}`", quoted(id.as_str()));
        session.tell_once(Some(&id), message, vec![hint]);
    }
}

impl StateCheck {
    /// Makes what may be a rename, and nobody decided, a reason to stop.
    #[must_use]
    pub fn without_open_renames(mut self) -> Self {
        let renames = std::mem::take(&mut self.renames);
        for rename in &renames {
            let same: Vec<&Rename> = renames.iter().filter(|other| other.new == rename.new).collect();
            self.problems.entry(rename.new.clone()).or_insert_with(|| renamed_error(&same));
        }
        self
    }
}

/// Refuses to go on where the state of a stack is not where it is looked for; a former name is used.
pub async fn require_states(session: &Session, ids: &[StackId]) -> Result<()> {
    let check = check_states(session, ids).await.without_open_renames();
    let mine = |(id, _): &(StackId, Error)| ids.contains(id);
    if let Some((_, error)) = check.problems.into_iter().find(mine) {
        return Err(error);
    }
    session.former_names.borrow_mut().extend(check.former);
    Ok(())
}

/// Refuses a state that is another project's, or that went somewhere else, before it is written by hand.
pub async fn require_own(session: &Session, id: &StackId) -> Result<()> {
    let stack = session.stack(id)?;
    if stack.backend != Backend::Embedded || session.place.is_none() {
        return Ok(());
    }
    let status = session.home_of(stack)?.status().await?.unwrap_or_default();
    match &status.moved {
        Some(moved) => Err(gone_away(session, id, moved).await),
        None => check_project(&session.project, &stack.id, &status),
    }
}

/// Lets stacks be looked at under the names that their states still have.
pub fn use_former_names(session: &Session, check: &StateCheck) {
    session.former_names.borrow_mut().extend(check.former.clone());
}

/// Returns the stacks whose state is where it is looked for, and why the others are left out.
pub async fn sound_states(session: &Session, ids: &[StackId]) -> (Vec<StackId>, Vec<Error>) {
    let mut check = check_states(session, ids).await.without_open_renames();
    use_former_names(session, &check);
    let (bad, sound): (Vec<StackId>, Vec<StackId>) =
        ids.iter().cloned().partition(|id| check.problems.contains_key(id));
    (sound, bad.iter().filter_map(|id| check.problems.remove(id)).collect())
}

/// Returns the stacks with those whose outputs they take.
fn with_feeding<'a>(session: &'a Session, ids: &[StackId]) -> Vec<&'a Stack> {
    let mut wanted: BTreeSet<StackId> = ids.iter().cloned().collect();
    for id in ids {
        let inputs = stacks::resolve_inputs(&session.project, &session.stacks, id).unwrap_or_default();
        wanted.extend(inputs.into_values().map(|from| from.stack));
    }
    session.stacks.iter().filter(|stack| wanted.contains(&stack.id)).collect()
}

/// Returns how the state of a stack stands.
pub(super) async fn state_location(session: &Session, stack: &Stack) -> Result<StateLocation> {
    if stack.backend != Backend::Embedded {
        return location_of_own_block(session, stack).await;
    }
    if session.place.is_none() {
        return Ok(StateLocation::Here);
    }
    let home = session.home_named(&state_name(stack)?)?;
    let Some(home) = home else { return Ok(StateLocation::Here) };
    let Seen { facts, status } = Seen::at(&home).await?;
    if let Some(moved) = &status.moved {
        return Err(gone_away(session, &stack.id, moved).await);
    }
    if status.lock.is_some() {
        release_left_behind(&home).await?;
    }
    match facts {
        Some(facts) => {
            check_project(&session.project, &stack.id, &status)?;
            check_lineage(session, stack, &facts)?;
            check_kept(session, stack, &facts).await?;
            Ok(StateLocation::Here)
        }
        None => location_of_none(session, stack).await,
    }
}

/// Returns the error of a state that is closed: it went somewhere else, or is not here yet.
///
/// A stack may have been renamed several times; the last name is the one to tell.
async fn gone_away(session: &Session, id: &StackId, moved: &Moved) -> Error {
    if let Some(command) = broken_off(moved) {
        return half_moved(id, command);
    }
    let mut last = moved.clone();
    for _ in 0..LONGEST_CHAIN {
        let Some(name) = new_name_in(&last.to).and_then(|name| StateName::parse(name).ok()) else { break };
        let Ok(Some(home)) = session.home_named(&name) else { break };
        match home.status().await {
            Ok(Some(StateStatus { moved: Some(next), .. })) if broken_off(&next).is_none() => last = next,
            _ => break,
        }
    }
    moved_away(id, &last)
}

/// Refuses a copy of a state that lives on elsewhere: `infra.lock` names another place, and that has it.
async fn check_kept(session: &Session, stack: &Stack, facts: &StateFacts) -> Result<()> {
    let project = &session.project;
    let Some(known) = session.known_state(&stack.id) else {
        return Ok(());
    };
    let (kept, here) = (KeptAt::parse(&known.kept, &project.root)?, KeptAt::of(project)?);
    if kept.is_same(&here) {
        return Ok(());
    }
    if kept.folder().is_none() {
        return Err(copy_here(&stack.id, &kept, facts));
    }
    let Some(place) = kept.open(project, &session.env, session.clock)? else { return Ok(()) };
    let there = Seen::at(&place.home(&state_name(stack)?, session.env.clone())?).await?;
    match there.facts.filter(|there| there.lineage == facts.lineage) {
        Some(_) => Err(copy_here(&stack.id, &kept, facts)),
        None => Ok(()),
    }
}

/// A block with a place of its own is tofu's business, unless infra kept the state before.
async fn location_of_own_block(session: &Session, stack: &Stack) -> Result<StateLocation> {
    let known = session.known_state(&stack.id);
    let Some(known) = known else {
        let former = former_in_backend(session, stack).await?;
        return Ok(former.map_or(StateLocation::Here, StateLocation::Former));
    };
    let home = session.home_of(stack)?;
    if !home.is_readable() || home.facts().await?.is_some() {
        return Ok(StateLocation::Here);
    }
    let (id, kind) = (&stack.id, home.kind());
    Err(Error::invalid(format!("the state of `{id}` is still kept at `{}`", known.kept))
        .code(StackError::STATE_NOT_MOVED)
        .detail(format!(
            "its backend block names a place of its own now ({kind}), and that has no state of it"
        ))
        .hint(way_to_own_block(session, stack))
        .hint(format!("or start over on purpose: `infra state forget {}`", quoted(id.as_str()))))
}

/// Says how a state that infra keeps gets to where a block of the stack's own names its place.
fn way_to_own_block(session: &Session, stack: &Stack) -> String {
    let way = migration_command(&session.project, &session.env, stack);
    match way.starts_with("infra state migrate") {
        true => format!("move it: `{way}`"),
        false => "put `backend \"http\" {}` back and let infra move it: `infra state migrate STACK --to PLACE` writes \
                  the new block itself"
            .to_owned(),
    }
}

/// Returns what it means that the place has no state of a stack.
async fn location_of_none(session: &Session, stack: &Stack) -> Result<StateLocation> {
    let lock = session.infra_lock.as_ref().map_err(|error| unknown(stack, error))?;
    if let Some(known) = lock.states.get(&stack.id) {
        return Err(MissingState { session, id: &stack.id, name: state_name(stack)?, known }.error().await);
    }
    if let Some(error) = left_in_own_folder(session, &stack.id, &state_name(stack)?).await? {
        return Err(error);
    }
    if let Some(error) = left_in_previous_backend(session, stack).await? {
        return Err(error);
    }
    match stacks::settings_for(&session.project, &stack.id).was {
        Some(was) => location_of_former(session, stack, was).await,
        None => Ok(StateLocation::Nowhere),
    }
}

/// Returns what the former id of a stack means for it.
async fn location_of_former(session: &Session, stack: &Stack, was: StackId) -> Result<StateLocation> {
    let name = StateName::parse(&was.state_name())?;
    let Some(home) = session.home_named(&name)? else { return Ok(StateLocation::Nowhere) };
    let Seen { facts, status } = Seen::at(&home).await?;
    if facts.is_some() {
        check_project(&session.project, &stack.id, &status)?;
        return Ok(StateLocation::Former(was));
    }
    let known = session.known_state(&was);
    match known {
        Some(known) => Err(MissingState { session, id: &stack.id, name, known }.error().await),
        None => match left_in_own_folder(session, &stack.id, &name).await? {
            Some(error) => Err(error),
            None => Ok(StateLocation::Nowhere),
        },
    }
}

/// Tells of a state that the project's own folder has while another place is configured.
async fn left_in_own_folder(session: &Session, id: &StackId, name: &StateName) -> Result<Option<Error>> {
    let (project, own) = (&session.project, KeptAt::embedded(&session.project.root));
    if own.is_same(&KeptAt::of(project)?) {
        return Ok(None);
    }
    let Some(place) = own.open(project, &session.env, session.clock)? else { return Ok(None) };
    let Seen { facts, status } = Seen::at(&place.home(name, session.env.clone())?).await?;
    match facts {
        Some(facts) if !status.left_behind => Ok(Some(not_moved(session, id, &own, Some(&facts)))),
        _ => Ok(None),
    }
}

/// Tells of a state in the backend that the stack's block named before.
async fn left_in_previous_backend(session: &Session, stack: &Stack) -> Result<Option<Error>> {
    let (project, env) = (&session.project, &session.env);
    let Some(LeftBehind::File(file)) = left_behind(project, env, stack) else { return Ok(None) };
    let Some(facts) = StateHome::File(file.clone()).facts().await? else { return Ok(None) };
    Ok(Some(
        Error::invalid(format!(
            "the state of `{}` is still in the file that its block named before",
            stack.id
        ))
        .code(StackError::STATE_NOT_MOVED)
        .at(project.relative(&file).display())
        .detail(described(&facts))
        .hint(format!("move it: `{}`", migration_command(project, env, stack))),
    ))
}

/// Makes the error of a stack of which nobody can tell whether it has a state.
fn unknown(stack: &Stack, lock: &Error) -> Error {
    let error =
        lock.clone().detail(format!("so nobody can tell whether `{}` has a state elsewhere", stack.id));
    error.code(StackError::STATE_ELSEWHERE)
}

/// Refuses a state that is not the one that was applied.
fn check_lineage(session: &Session, stack: &Stack, facts: &StateFacts) -> Result<()> {
    let known = session.known_state(&stack.id);
    let Some(known) = known.filter(|known| known.lineage != facts.lineage) else { return Ok(()) };
    let (id, place) = (&stack.id, KeptAt::of(&session.project)?);
    Err(Error::invalid(format!("the state of `{id}` in `{place}` is not the one that `infra.lock` knows"))
        .code(StackError::STATE_ELSEWHERE)
        .fact("known", format!("lineage {}, kept at `{}`", known.lineage, known.kept))
        .fact("found", format!("lineage {}, {}", facts.lineage, described(facts)))
        .detail("it may be a newer one of another branch, a copy that tofu made, or another state")
        .hint("take the newer `infra.lock` first: `git pull`")
        .hint(format!("to go on with what lies there: `infra state forget {}`", quoted(id.as_str()))))
}
