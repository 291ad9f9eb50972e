//! A state that is lost at its place, put back from a copy on this machine: one that infra
//! kept, or the store of another checkout.
//!
//! Never by itself: a person sees what was found and says yes. Two checkouts that both go on
//! with one state are worse than none, so a copy whose checkout still has it is refused.
//! Begin at [`copies_of`].

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::known_states::note_lineage;
use super::seen_state::Seen;
use super::session::Session;
use super::state_move::hold;
use crate::backends::{KeptAt, SafetyCopies, StateFacts, StatePlace};
use crate::error::{Error, Result};
use crate::model::StackId;
use crate::state::StateName;

/// A copy that a state can come back from.
#[derive(Debug)]
pub struct FoundCopy {
    /// The stack.
    pub id: StackId,
    /// The project that it belongs to, where that is known.
    pub project: Option<String>,
    /// The checkout that wrote it, or the store it lies in.
    pub origin: PathBuf,
    /// What identifies it.
    pub facts: StateFacts,
    /// When it was written, where that is known.
    pub written: Option<Timestamp>,
    /// Whether `infra.lock` knows this very state.
    pub is_known: bool,
    bytes: Zeroizing<Vec<u8>>,
}

/// Returns the copy that the state of a stack can come back from; nothing if there is none.
pub async fn copy_for(session: &Session, id: &StackId, from: Option<&Path>) -> Result<Option<FoundCopy>> {
    let lineage = known_lineage(session, id)?;
    let found = match from {
        Some(dir) => in_store(session, id, dir).await?,
        None => None,
    };
    match found {
        Some(found) => Ok(Some(found)),
        None => in_safety_copies(session, id, lineage.as_deref(), from),
    }
}

fn known_lineage(session: &Session, id: &StackId) -> Result<Option<String>> {
    let lock = session.infra_lock.as_ref().map_err(Clone::clone)?;
    Ok(lock.states.get(id).map(|known| known.lineage.clone()))
}

/// Looks into the store of another checkout, or into any folder of states.
async fn in_store(session: &Session, id: &StackId, dir: &Path) -> Result<Option<FoundCopy>> {
    let own = dir.join(".infra/state");
    let folder = if own.is_dir() { own } else { dir.to_owned() };
    let place = KeptAt::parse(&folder.display().to_string(), &session.project.root)?;
    let Some(place @ StatePlace::Store(_)) = place.open(&session.project, &session.env, session.clock)?
    else {
        return Ok(None);
    };
    let home = place.home(&StateName::parse(id.state_name())?, session.env.clone())?;
    let Seen { facts: Some(facts), status } = Seen::at(&home).await? else { return Ok(None) };
    let Some(bytes) = home.read().await? else { return Ok(None) };
    let written = home.versions().await?.and_then(|kept| kept.versions.last().map(|version| version.at));
    let is_known = known_lineage(session, id)?.is_some_and(|known| known == facts.lineage);
    Ok(Some(FoundCopy {
        id: id.clone(),
        project: status.project,
        origin: folder,
        facts,
        written,
        is_known,
        bytes,
    }))
}

/// Looks into the copies that infra kept, or into a folder of such copies.
fn in_safety_copies(
    session: &Session,
    id: &StackId,
    lineage: Option<&str>,
    from: Option<&Path>,
) -> Result<Option<FoundCopy>> {
    let copies = match from {
        Some(dir) => Some(SafetyCopies::in_folder(dir.to_owned(), session.clock)),
        None => SafetyCopies::of(&session.env, session.project.state.copies, session.clock),
    };
    let Some(copies) = copies else { return Ok(None) };
    let found = match lineage {
        Some(lineage) => copies.find(lineage)?,
        None => newest_of(copies.all()?, session, id),
    };
    let Some(copy) = found else { return Ok(None) };
    let bytes = copies.read(&copy)?;
    let facts = StateFacts::of(&bytes)
        .ok_or_else(|| Error::invalid(format!("the safety copy of `{id}` is no state")))?;
    let is_known = lineage == Some(facts.lineage.as_str());
    let (project, origin, written) = (copy.facts.project, copy.facts.root, Some(copy.facts.written));
    Ok(Some(FoundCopy { id: id.clone(), project, origin, facts, written, is_known, bytes }))
}

/// Without `infra.lock` only the names tell: the newest copy of a stack of this name and project.
fn newest_of(
    copies: Vec<crate::backends::SafetyCopy>,
    session: &Session,
    id: &StackId,
) -> Option<crate::backends::SafetyCopy> {
    let project = &session.project;
    let is_ours = |copy: &crate::backends::SafetyCopy| {
        let same_project = match (&copy.facts.project, project.is_named) {
            (Some(name), true) => *name == project.name,
            _ => copy.facts.root == project.root,
        };
        copy.facts.stack == *id && same_project
    };
    copies.into_iter().filter(is_ours).max_by_key(|copy| copy.facts.written)
}

/// Returns whether the configured place has a state of a stack.
pub async fn has_state(session: &Session, id: &StackId) -> Result<bool> {
    let name = StateName::parse(id.state_name())?;
    match session.home_named(&name)? {
        Some(home) => Ok(Seen::at(&home).await?.facts.is_some()),
        None => Ok(false),
    }
}

/// Returns whether `infra.lock` knows a state of a stack.
pub fn is_known(session: &Session, id: &StackId) -> bool {
    session.infra_lock.as_ref().is_ok_and(|lock| lock.states.contains_key(id))
}

/// Returns whether the checkout that wrote a copy still has that state and may go on with it.
pub async fn lives_elsewhere(session: &Session, copy: &FoundCopy) -> bool {
    let root = &copy.origin;
    if *root == session.project.root || !root.join(".infra/state").is_dir() {
        return false;
    }
    matches!(in_store(session, &copy.id, root).await, Ok(Some(found)) if found.facts.lineage == copy.facts.lineage)
}

/// Puts a copy back, if the place still has no state.
pub async fn recover_state(session: &Session, copy: &FoundCopy) -> Result<()> {
    let name = StateName::parse(copy.id.state_name())?;
    let home = session.home_named(&name)?.ok_or_else(|| Error::bug("there is no place for states"))?;
    let hold = hold(session, &home, ("state recover", "")).await?;
    let written = async {
        let there = home.read().await?;
        match there.and_then(|there| StateFacts::of(&there)) {
            Some(there) if there == copy.facts => Ok(()),
            Some(_) => Err(Error::failed(format!("there is a state of `{}` already", copy.id))
                .hint("`infra state forget` takes what lies there")),
            None => home.write(&hold, &copy.bytes).await,
        }
    };
    let written = written.await;
    let released = home.release(hold).await;
    written?;
    released?;
    note_lineage(session, &copy.id, Some(copy.facts.lineage.clone()))
}
