//! A state that is lost at its place, put back from a copy on this machine: one that infra
//! kept, or the store of another checkout.
//!
//! Never by itself: a person sees what was found and says yes. Two checkouts that both go on
//! with one state are worse than none, so a copy whose checkout still has it is refused, and
//! what comes from a store is moved, not copied. Begin at [`copy_for`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::state_move::{StateMove, lock_for_move};
use crate::backends::{KeptAt, SafetyCopies, SafetyCopy, StateFacts, StateHome, StatePlace};
use crate::engine::session::Session;
use crate::engine::state_check::{Seen, keep_safety_copy, moved_away, note_lineage};
use crate::error::{Error, Result};
use crate::model::{StackId, quoted};
use crate::project;
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
    source: CopySource,
}

#[derive(Debug)]
enum CopySource {
    /// A copy that nobody works with.
    Copy(Zeroizing<Vec<u8>>),
    /// A store: the state is moved, so that nobody goes on with it there.
    Store(Box<StateHome>),
}

/// Returns the copy that the state of a stack can come back from; `None` if there is none.
pub async fn copy_for(session: &Session, id: &StackId, from: Option<&Path>) -> Result<Option<FoundCopy>> {
    let found = match from {
        Some(dir) if !dir.is_dir() => {
            return Err(Error::usage(format!("`--from {}` is no folder", dir.display())));
        }
        Some(dir) => in_store(session, id, dir).await?,
        None => None,
    };
    match found {
        Some(found) => Ok(Some(found)),
        None => in_safety_copies(session, id, from),
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
    let Some(home) = home_in(session, id, &folder)? else { return Ok(None) };
    let Seen { facts, status } = Seen::at(&home).await?;
    if let Some(moved) = &status.moved {
        return Err(moved_away(id, moved));
    }
    let Some(facts) = facts else { return Ok(None) };
    let written = home.versions().await?.and_then(|kept| kept.versions.last().map(|version| version.at));
    let is_known = known_lineage(session, id)?.is_some_and(|known| known == facts.lineage);
    let (project, source) = (status.project, CopySource::Store(Box::new(home)));
    Ok(Some(FoundCopy { id: id.clone(), project, origin: folder, facts, written, is_known, source }))
}

/// Returns where a state lies in a folder of states; `None` if there is no such folder.
fn home_in(session: &Session, id: &StackId, folder: &Path) -> Result<Option<StateHome>> {
    let place = KeptAt::parse(&folder.display().to_string(), &session.project.root)?;
    match place.open(&session.project, &session.env, session.clock)? {
        Some(place @ StatePlace::Store(_)) => {
            place.home(&StateName::parse(&id.state_name())?, session.env.clone()).map(Some)
        }
        _ => Ok(None),
    }
}

/// Looks into the copies that infra kept, or into a folder of such copies.
fn in_safety_copies(session: &Session, id: &StackId, from: Option<&Path>) -> Result<Option<FoundCopy>> {
    let copies = match from {
        Some(dir) => Some(SafetyCopies::in_folder(dir.to_owned(), session.clock)),
        None => SafetyCopies::of(&session.env, session.project.state.copies, session.clock),
    };
    let Some(copies) = copies else { return Ok(None) };
    let lineage = known_lineage(session, id)?;
    let found = match &lineage {
        Some(lineage) => copies.find(lineage)?,
        None => newest_of(copies.all()?, session, id),
    };
    let Some(copy) = found else { return Ok(None) };
    let bytes = copies.read(&copy)?;
    let facts = StateFacts::of(&bytes)
        .ok_or_else(|| Error::invalid(format!("the safety copy of `{id}` is no state")))?;
    let is_known = lineage.as_ref() == Some(&facts.lineage);
    let (project, origin, written) = (copy.facts.project, copy.facts.root, Some(copy.facts.written));
    let source = CopySource::Copy(bytes);
    Ok(Some(FoundCopy { id: id.clone(), project, origin, facts, written, is_known, source }))
}

/// Without `infra.lock` only the names tell: the newest copy of a stack of this name and project.
fn newest_of(copies: Vec<SafetyCopy>, session: &Session, id: &StackId) -> Option<SafetyCopy> {
    let project = &session.project;
    let is_ours = |copy: &SafetyCopy| {
        let same_project = match (&copy.facts.project, project.is_named) {
            (Some(name), true) => *name == project.name,
            _ => copy.facts.root == project.root,
        };
        copy.facts.stack == *id && same_project
    };
    copies.into_iter().filter(is_ours).max_by_key(|copy| copy.facts.written)
}

/// Returns what this very checkout had of stacks, as the copies on this machine say; empty ones are left out.
pub fn copies_of_this_checkout(session: &Session, ids: &BTreeSet<StackId>) -> Vec<(StackId, StateFacts)> {
    let project = &session.project;
    let copies = SafetyCopies::of(&session.env, project.state.copies, session.clock);
    let Some(copies) = copies.filter(|_| !ids.is_empty()) else { return Vec::new() };
    let is_ours = |copy: &SafetyCopy| copy.facts.root == project.root && ids.contains(&copy.facts.stack);
    let ours = copies.all().unwrap_or_default().into_iter().filter(is_ours);
    let facts = ours.filter_map(|copy| {
        let facts = StateFacts::of(&copies.read(&copy).ok()?).filter(|facts| facts.resources > 0)?;
        Some((copy.facts.stack, facts))
    });
    facts.collect()
}

/// Returns whether `infra.lock` knows a state of a stack.
pub fn is_known(session: &Session, id: &StackId) -> bool {
    session.known_state(id).is_some()
}

/// Returns whether the configured place has a state of a stack.
pub async fn has_state(session: &Session, id: &StackId) -> Result<bool> {
    let name = StateName::parse(&id.state_name())?;
    match session.home_named(&name)? {
        Some(home) => Ok(Seen::at(&home).await?.facts.is_some()),
        None => Ok(false),
    }
}

/// Returns why a copy must not be used: the checkout that wrote it still has the state, or gave it on.
pub async fn lives_elsewhere(session: &Session, copy: &FoundCopy) -> Option<String> {
    let (root, own) = (&copy.origin, &session.project.root);
    if matches!(copy.source, CopySource::Store(_)) {
        let words = "with `--force` it is moved from there, and that checkout is told";
        return is_of_checkout(root).then(|| words.to_owned());
    }
    if root == own || !root.is_dir() {
        return None;
    }
    let stores = std::iter::once(root.join(".infra/state")).chain(store_of(root));
    for store in stores.filter(|store| store.is_dir()) {
        let seen = match home_in(session, &copy.id, &store) {
            Ok(Some(home)) => Seen::at(&home).await,
            Ok(None) => continue,
            Err(error) => Err(error),
        };
        match seen {
            Ok(Seen { status, .. }) if status.moved.is_some() => {
                let to = status.moved.map(|moved| moved.to).unwrap_or_default();
                return Some(format!("that checkout gave it on: it was moved to `{to}`"));
            }
            Ok(Seen { facts: Some(facts), .. }) if facts.lineage == copy.facts.lineage => {
                return Some("if both went on with it, each would undo what the other did".to_owned());
            }
            Ok(_) => {}
            Err(error) => {
                return Some(format!("whether it still has it cannot be told: {}", error.message()));
            }
        }
    }
    None
}

/// Returns whether a folder of states is that of a checkout, and no backup of one.
fn is_of_checkout(folder: &Path) -> bool {
    let root = folder.ends_with(".infra/state").then(|| folder.ancestors().nth(2)).flatten();
    root.is_some_and(|root| root.join("infra.yaml").exists() || root.join(".git").exists())
}

/// Returns the folder that another checkout names for its states, if it is one.
fn store_of(root: &Path) -> Option<PathBuf> {
    let project = project::load(root).ok()?;
    KeptAt::of(&project).ok()?.folder().map(Path::to_owned)
}

/// Puts a copy back, if the place still has no state.
pub async fn recover_state(session: &Session, copy: &FoundCopy) -> Result<()> {
    let name = StateName::parse(&copy.id.state_name())?;
    let home = session.home_named(&name)?.ok_or_else(|| Error::bug("there is no place for states"))?;
    match &copy.source {
        CopySource::Store(from) => take_over(session, copy, from, &home).await?,
        CopySource::Copy(bytes) => put_back(session, copy, bytes, &home).await?,
    }
    note_lineage(session, &copy.id, Some(copy.facts.lineage.clone()))?;
    // From now on it is this checkout that has it.
    keep_safety_copy(session, &copy.id).await;
    Ok(())
}

async fn take_over(session: &Session, copy: &FoundCopy, from: &StateHome, to: &StateHome) -> Result<()> {
    let id = &copy.id;
    let command = format!(
        "state recover {} --from {}",
        quoted(id.as_str()),
        quoted(&copy.origin.display().to_string())
    );
    let (destination, operation) = (KeptAt::of(&session.project)?.full_text(), "state recover");
    let moving = StateMove { id, from, to, destination, command, operation };
    moving.run(session).await.map(drop)
}

async fn put_back(session: &Session, copy: &FoundCopy, bytes: &[u8], home: &StateHome) -> Result<()> {
    let hold = lock_for_move(session, home, ("state recover", "")).await?;
    let written = async {
        match home.facts().await? {
            Some(there) if there == copy.facts => Ok(()),
            Some(_) => Err(Error::failed(format!("there is a state of `{}` already", copy.id))),
            None => home.write(&hold, bytes).await,
        }
    };
    let written = written.await;
    let released = home.release(hold).await;
    written?;
    released
}
