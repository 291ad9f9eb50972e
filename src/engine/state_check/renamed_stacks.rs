//! Stacks that are gone beside new ones without a state: whether one is the other under a new
//! name.
//!
//! Nothing is decided here. A stack is gone if the project knows its state and the tree has
//! no folder of it; what was moved or left behind on purpose is not asked about again. Begin
//! at [`rename_candidates_for`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use futures::StreamExt as _;
use serde_json::Value;

use super::seen_state::{Seen, described};
use crate::backends::{StateFacts, StatePlace};
use crate::engine::applied::{is_renamed, removed_stacks};
use crate::engine::session::Session;
use crate::engine::state_content::open_with_passphrase;
use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackError, StackId, quoted};
use crate::process::Git;
use crate::stacks;
use crate::stacks::{Evidence, GoneStack, RenameCandidate};
use crate::state::{StateName, StateStatus};

/// How many states are looked at together.
const TOGETHER: usize = 8;

/// A new stack that may be a former one, with what is known of that one's state.
#[derive(Clone, Debug)]
pub struct Rename {
    /// The stack that is gone.
    pub old: StackId,
    /// The stack that it may be now.
    pub new: StackId,
    /// What speaks for it.
    pub evidence: Evidence,
    /// What the old state is; `None` where it is not at the configured place.
    pub facts: Option<StateFacts>,
}

impl Rename {
    /// Says what speaks for it, in a few words.
    pub const fn reason(&self) -> &'static str {
        match self.evidence {
            Evidence::Git => "git calls its files renamed",
            Evidence::Folder => "it is the same folder, with other `workspaces` in infra.yaml",
            Evidence::Addresses => "it declares every resource of that state",
        }
    }
}

/// Returns which of these stacks, which have no state, may be former ones; an error if nobody can tell.
pub(super) async fn rename_candidates_for(session: &Session, new: &BTreeSet<StackId>) -> Result<Vec<Rename>> {
    let of_new = |stack: &&Stack| new.contains(&stack.id) && stack.backend == Backend::Embedded;
    let new: Vec<&Stack> = session.stacks.iter().filter(of_new).collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let mut ids = gone_ids(session).await?;
    let paths = removed_paths(session).await;
    ids.extend(paths.keys().cloned());
    ids.extend(new.iter().filter(|stack| stack.workspace.is_some()).map(|stack| stack.base_id()));
    // What `was` names has its stack.
    ids.retain(|id| {
        let is_there = session.stacks.iter().any(|stack| stack.id == *id);
        !is_there && !is_renamed(&session.project, &session.stacks, id)
    });
    Ok(candidates(session, &new, &ids, &paths).await)
}

/// Returns where the folders of removed stacks were, as far as this checkout remembers.
async fn removed_paths(session: &Session) -> BTreeMap<StackId, PathBuf> {
    let removed = removed_stacks(&session.project, &session.stacks, session.clock).await.unwrap_or_default();
    removed.into_iter().map(|removed| (removed.stack.id, removed.was_at)).collect()
}

/// Returns the ids of states that no stack of the tree has.
async fn gone_ids(session: &Session) -> Result<BTreeSet<StackId>> {
    let mut ids: BTreeSet<StackId> = match &session.infra_lock {
        Ok(lock) => lock.states.keys().cloned().collect(),
        Err(_) => BTreeSet::new(),
    };
    // The project's own folder holds its states alone; a shared place holds those of others too.
    if let (Some(StatePlace::Store(store)), false) = (&session.place, session.project.state.shared()) {
        // One that is damaged may be what git calls renamed.
        let states = store.overview().await?.into_iter();
        let there = states.filter(|state| state.size.is_some() || state.error.is_some());
        ids.extend(there.map(|state| StackId::of_state_name(state.name.as_str())));
    }
    ids.retain(|id| !session.stacks.iter().any(|stack| stack.id == *id));
    Ok(ids)
}

/// Returns the pairs of a gone and a new stack that may be one.
async fn candidates(
    session: &Session,
    new: &[&Stack],
    ids: &BTreeSet<StackId>,
    paths: &BTreeMap<StackId, PathBuf>,
) -> Vec<Rename> {
    let look = |id: &StackId| {
        let id = id.clone();
        async move {
            let state = state_of(session, &id, new).await?;
            let path = paths.get(&id).cloned().or_else(|| path_beside(new, &id));
            Some((GoneStack { id, path, addresses: state.addresses }, state.facts))
        }
    };
    let looked: Vec<_> = futures::stream::iter(ids).map(look).buffered(TOGETHER).collect().await;
    let (gone, facts): (Vec<GoneStack>, Vec<Option<StateFacts>>) = looked.into_iter().flatten().unzip();
    let folders: Vec<PathBuf> = gone.iter().filter_map(|stack| stack.path.clone()).collect();
    let moved = match Git::around(&session.project.root, &session.env, &session.interrupts) {
        Some(git) if !folders.is_empty() => git.renames(&folders).await,
        _ => None,
    };
    let facts_of =
        |old: &StackId| gone.iter().position(|stack| stack.id == *old).and_then(|index| facts[index].clone());
    let found: Vec<Rename> = stacks::rename_candidates(&gone, new, moved.as_deref())
        .into_iter()
        .map(|RenameCandidate { old, new, evidence }| Rename { facts: facts_of(&old), old, new, evidence })
        .collect();
    found.iter().filter(|rename| is_nearest(rename, &found)).cloned().collect()
}

/// Of several that look alike, those of the same last name are meant: a whole folder was renamed.
fn is_nearest(rename: &Rename, all: &[Rename]) -> bool {
    let same_name = |rename: &Rename| rename.old.short_name() == rename.new.short_name();
    let mut rivals = all.iter().filter(|other| other.old == rename.old || other.new == rename.new);
    same_name(rename) || !rivals.any(same_name)
}

/// Returns where the folder of a stack was, beside a new one of the same root.
fn path_beside(new: &[&Stack], id: &StackId) -> Option<PathBuf> {
    let root = new.iter().find_map(|stack| {
        let path = stack.path.to_str()?;
        path.strip_suffix(stack.id.as_str()).map(|root| root.trim_end_matches('/').to_owned())
    })?;
    Some(PathBuf::from(root).join(id.as_str()))
}

/// What is known of the state of a gone stack.
struct GoneState {
    /// Its resources; `None` where it cannot be opened.
    addresses: Option<BTreeSet<String>>,
    /// What it is; `None` where it is not at the configured place.
    facts: Option<StateFacts>,
}

/// Returns what is known of the state of a gone stack; `None` if it is not asked about.
///
/// One that cannot be read, or is not here, may still be what git calls renamed.
async fn state_of(session: &Session, id: &StackId, new: &[&Stack]) -> Option<GoneState> {
    let name = StateName::parse(&id.state_name()).ok()?;
    let home = session.home_named(&name).ok()??;
    let (facts, bytes) = match Seen::at(&home).await {
        Ok(Seen { status, .. }) if is_not_asked_about(session, &status) => return None,
        Ok(Seen { facts: Some(facts), .. }) => (Some(facts), home.read().await.ok().flatten()),
        Ok(_) if session.known_state(id).is_some() => (None, None),
        Ok(_) => return None,
        Err(_) => (None, None),
    };
    let addresses = bytes.as_ref().and_then(|bytes| addresses_in(session, bytes, new));
    let is_empty = addresses.as_ref().is_some_and(BTreeSet::is_empty);
    (!is_empty).then_some(GoneState { addresses, facts })
}

/// What was given up, went somewhere else or is another project's is no former stack of this one.
fn is_not_asked_about(session: &Session, status: &StateStatus) -> bool {
    status.left_behind || status.moved.is_some() || status.other_project(&session.project).is_some()
}

/// Returns the resources of a state; its own secrets are gone with its folder, those of its successor may
/// open it too.
fn addresses_in(session: &Session, bytes: &[u8], new: &[&Stack]) -> Option<BTreeSet<String>> {
    let opened = new.iter().find_map(|stack| open_with_passphrase(session, &stack.id, bytes).ok())?;
    let state: Value = serde_json::from_slice(&opened).ok()?;
    Some(stacks::addresses_in_state(&state))
}

/// Makes the error of a stack that seems to be a former one; several are listed and none is proposed.
pub(super) fn renamed_error(candidates: &[&Rename]) -> Error {
    let Some(first) = candidates.first() else { return Error::bug("a rename without a candidate") };
    let message = match candidates.len() {
        1 => format!("`{}` seems to be the former `{}`", first.new, first.old),
        _ => format!("`{}` seems to be a former stack under a new name", first.new),
    };
    let mut error = Error::invalid(message).code(StackError::STACK_RENAMED);
    for rename in candidates {
        let what = rename.facts.as_ref().map_or_else(|| "its state is not here".to_owned(), described);
        error = error.fact(rename.old.to_string(), format!("{what}; {}", rename.reason()));
    }
    error = error.detail("as a new stack it would make everything of it a second time");
    let error = candidates.iter().fold(error, |error, rename| with_migration_hint(error, rename));
    candidates.iter().fold(error, |error, rename| {
        let old = quoted(rename.old.as_str());
        error.hint(format!(
            "if not, the old state is kept and no longer asked about: `infra state forget {old}`"
        ))
    })
}

/// Adds how the state of the former stack comes along.
fn with_migration_hint(error: Error, rename: &Rename) -> Error {
    let (old, new) = (quoted(rename.old.as_str()), quoted(rename.new.as_str()));
    let error = match rename.facts {
        Some(_) => error,
        None => error
            .hint("bring its state here first: `infra state migrate --all`")
            .hint(format!("or from a copy on this machine: `infra state recover {old}`")),
    };
    error.hint(format!("if so, it goes on with that state: `infra state rename {old} {new}`"))
}

/// Refuses to destroy stacks that are gone from the tree but live on under another name.
pub async fn check_removed(session: &Session, gone: &[StackId]) -> Result<()> {
    let present = || session.stacks.iter().filter(|stack| !gone.contains(&stack.id));
    let lineages = lineages_of(session, present()).await;
    let is_new = |stack: &&Stack| stack.backend == Backend::Embedded && !lineages.contains_key(&stack.id);
    let new: Vec<&Stack> = present().filter(is_new).collect();
    let ids: BTreeSet<StackId> = gone.iter().cloned().collect();
    let renames = match new.is_empty() {
        true => Vec::new(),
        false => candidates(session, &new, &ids, &removed_paths(session).await).await,
    };
    for id in gone {
        let Some(home) = session.home_named(&StateName::parse(&id.state_name())?)? else { continue };
        let lineage = home.facts().await.ok().flatten().map(|facts| facts.lineage);
        let owner = lineages.iter().find(|(_, known)| Some(*known) == lineage.as_ref());
        let renamed = renames.iter().find(|rename| rename.old == *id).map(|rename| &rename.new);
        if let Some(new) = owner.map(|(id, _)| id).or(renamed) {
            return Err(still_lives(id, new));
        }
    }
    Ok(())
}

/// Returns the lineages of the states that stacks have.
async fn lineages_of<'a>(
    session: &Session,
    stacks: impl Iterator<Item = &'a Stack>,
) -> BTreeMap<StackId, String> {
    let look = async |stack: &'a Stack| {
        let facts = match session.home_of(stack) {
            Ok(home) if home.is_readable() => home.facts().await.ok().flatten(),
            _ => None,
        };
        // What cannot be read is believed to be what `infra.lock` says.
        let known = || session.known_state(&stack.id).map(|known| known.lineage.clone());
        Some((stack.id.clone(), facts.map(|facts| facts.lineage).or_else(known)?))
    };
    let found: Vec<_> = futures::stream::iter(stacks).map(look).buffered(TOGETHER).collect().await;
    found.into_iter().flatten().collect()
}

fn still_lives(old: &StackId, new: &StackId) -> Error {
    let (quoted_old, quoted_new) = (quoted(old.as_str()), quoted(new.as_str()));
    Error::invalid(format!("`{old}` is gone from the tree, but `{new}` seems to be what became of it"))
        .code(StackError::STACK_RENAMED)
        .detail("destroying it would destroy what lives on under the new name")
        .hint(format!("let it go on with that state: `infra state rename {quoted_old} {quoted_new}`"))
        .hint(format!("if it is to be destroyed, name it: `infra destroy --removed {quoted_old}`"))
}
