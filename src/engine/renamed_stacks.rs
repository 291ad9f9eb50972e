//! Stacks that are gone beside new ones without a state: whether one is the other under a new
//! name.
//!
//! Nothing is decided here. A stack is gone if the project knows its state and the tree has
//! no folder of it; what was moved or left behind on purpose is not asked about again. Begin
//! at [`rename_candidates_for`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::applied::removed_stacks;
use super::seen_state::{Seen, described};
use super::session::Session;
use super::state_edit::open_state;
use crate::backends::{StateFacts, StatePlace};
use crate::error::{Error, Result};
use crate::model::{Backend, Stack, StackError, StackId, quoted};
use crate::process::Git;
use crate::stacks::{self, Evidence, GoneStack, RenameCandidate};
use crate::state::StateName;

/// A new stack that may be a former one, with what is known of that one's state.
#[derive(Clone, Debug)]
pub struct Rename {
    /// The stack that is gone.
    pub old: StackId,
    /// The stack that it may be now.
    pub new: StackId,
    /// What speaks for it.
    pub evidence: Evidence,
    /// What the old state is.
    pub facts: StateFacts,
}

impl Rename {
    /// Says what speaks for it, in a few words.
    pub const fn reason(&self) -> &'static str {
        match self.evidence {
            Evidence::Git => "git calls its files renamed",
            Evidence::Addresses => "it declares every resource of that state",
        }
    }
}

/// Returns which of these stacks, which have no state, may be former ones.
pub(super) async fn rename_candidates_for(session: &Session, new: &BTreeSet<StackId>) -> Vec<Rename> {
    let of_new = |stack: &&Stack| new.contains(&stack.id) && stack.backend == Backend::Embedded;
    let new: Vec<&Stack> = session.stacks.iter().filter(of_new).collect();
    if new.is_empty() {
        return Vec::new();
    }
    let gone = gone_stacks(session, &new).await.unwrap_or_default();
    if gone.is_empty() {
        return Vec::new();
    }
    let stacks: Vec<GoneStack> = gone.values().map(|(stack, _)| stack.clone()).collect();
    let folders: Vec<PathBuf> = stacks.iter().filter_map(|stack| stack.path.clone()).collect();
    let moved = match Git::around(&session.project.root, &session.env, &session.interrupts) {
        Some(git) => git.renames(&folders).await,
        None => None,
    };
    let found = stacks::rename_candidates(&stacks, &new, moved.as_deref());
    let with_facts = |RenameCandidate { old, new, evidence }| {
        let facts = gone.get(&old)?.1.clone();
        Some(Rename { old, new, evidence, facts })
    };
    found.into_iter().filter_map(with_facts).collect()
}

/// Returns the stacks that have a state at the configured place and no folder.
async fn gone_stacks(
    session: &Session,
    new: &[&Stack],
) -> Result<BTreeMap<StackId, (GoneStack, StateFacts)>> {
    let removed = removed_stacks(&session.project, &session.stacks, session.clock).await.unwrap_or_default();
    let mut paths: BTreeMap<StackId, PathBuf> =
        removed.into_iter().map(|removed| (removed.stack.id, removed.was_at)).collect();
    for id in gone_ids(session).await? {
        let guess = || path_beside(new, &id);
        if let Some(path) = paths.get(&id).cloned().or_else(guess) {
            paths.insert(id, path);
        }
    }
    let mut gone = BTreeMap::new();
    for (id, path) in paths {
        if let Some((addresses, facts)) = state_of(session, &id, new).await? {
            gone.insert(id.clone(), (GoneStack { id, path: Some(path), addresses }, facts));
        }
    }
    Ok(gone)
}

/// Returns the ids of states that no stack of the tree has.
async fn gone_ids(session: &Session) -> Result<BTreeSet<StackId>> {
    let mut ids: BTreeSet<StackId> = match &session.infra_lock {
        Ok(lock) => lock.states.keys().cloned().collect(),
        Err(_) => BTreeSet::new(),
    };
    // The project's own folder holds its states alone; a shared place holds those of others too.
    if let (Some(StatePlace::Store(store)), false) = (&session.place, session.project.state.shared()) {
        let names = store.list().await?;
        ids.extend(names.iter().map(|name| StackId::of_state_name(name.as_str())));
    }
    ids.retain(|id| !session.stacks.iter().any(|stack| stack.id == *id));
    Ok(ids)
}

/// Returns where the folder of a stack was, beside a new one of the same root.
fn path_beside(new: &[&Stack], id: &StackId) -> Option<PathBuf> {
    let root = new.iter().find_map(|stack| {
        let path = stack.path.to_str()?;
        path.strip_suffix(stack.id.as_str()).map(|root| root.trim_end_matches('/').to_owned())
    })?;
    Some(PathBuf::from(root).join(id.as_str()))
}

/// Returns what the state of a gone stack has; nothing if there is none, or it is not asked about.
async fn state_of(
    session: &Session,
    id: &StackId,
    new: &[&Stack],
) -> Result<Option<(Option<BTreeSet<String>>, StateFacts)>> {
    let Some(home) = session.home_named(&StateName::parse(id.state_name())?)? else { return Ok(None) };
    let Seen { facts: Some(facts), status } = Seen::at(&home).await? else { return Ok(None) };
    if status.left_behind {
        return Ok(None);
    }
    let Some(bytes) = home.read().await? else { return Ok(None) };
    // Its own secrets are gone with its folder; those of its successor open it too.
    let opened = new.iter().find_map(|stack| open_state(session, &stack.id, &bytes).ok());
    let state: Option<Value> = opened.and_then(|state| serde_json::from_slice(&state).ok());
    let addresses = state.map(|state| stacks::addresses_in_state(&state));
    let is_empty = addresses.as_ref().is_some_and(BTreeSet::is_empty);
    Ok((!is_empty).then_some((addresses, facts)))
}

/// Makes the error of a stack that seems to be a former one; several are listed and none is proposed.
pub(super) fn renamed_error(candidates: &[&Rename]) -> Error {
    let (Some(first), several) = (candidates.first(), candidates.len() > 1) else {
        return Error::bug("a rename without a candidate");
    };
    let new = &first.new;
    let message = match several {
        false => format!("`{new}` seems to be the former `{}`", first.old),
        true => format!("`{new}` seems to be a former stack under a new name"),
    };
    let mut error = Error::invalid(message).code(StackError::STACK_RENAMED);
    for rename in candidates {
        error =
            error.fact(rename.old.to_string(), format!("{}; {}", described(&rename.facts), rename.reason()));
    }
    error = error.detail("as a new stack it would make everything of it a second time");
    for rename in candidates {
        let (old, new) = (quoted(rename.old.as_str()), quoted(new.as_str()));
        error = error.hint(format!("if so, it goes on with that state: `infra state rename {old} {new}`"));
    }
    candidates.iter().fold(error, |error, rename| {
        let old = quoted(rename.old.as_str());
        error.hint(format!(
            "if not, the old state is kept and no longer asked about: `infra state forget {old}`"
        ))
    })
}

/// Refuses to destroy stacks that are gone from the tree but live on under another name.
pub async fn check_removed(session: &Session, gone: &[StackId]) -> Result<()> {
    let present = || session.stacks.iter().filter(|stack| !gone.contains(&stack.id));
    let lineages = lineages_of(session, present()).await;
    let new: BTreeSet<StackId> =
        present().map(|stack| stack.id.clone()).filter(|id| !lineages.contains_key(id)).collect();
    let renames = renames_among(session, &new, gone).await;
    for id in gone {
        let Some(home) = session.home_named(&StateName::parse(id.state_name())?)? else { continue };
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
    let mut lineages = BTreeMap::new();
    for stack in stacks {
        let facts = match session.home_of(stack) {
            Ok(home) if home.is_readable() => home.facts().await.ok().flatten(),
            _ => None,
        };
        if let Some(facts) = facts {
            lineages.insert(stack.id.clone(), facts.lineage);
        }
    }
    lineages
}

async fn renames_among(session: &Session, new: &BTreeSet<StackId>, gone: &[StackId]) -> Vec<Rename> {
    let of_new = |stack: &&Stack| new.contains(&stack.id) && stack.backend == Backend::Embedded;
    let new: Vec<&Stack> = session.stacks.iter().filter(of_new).collect();
    let mut found = Vec::new();
    let (mut stacks, mut facts) = (Vec::new(), BTreeMap::new());
    for id in gone.iter().filter(|_| !new.is_empty()) {
        if let Ok(Some((addresses, known))) = state_of(session, id, &new).await {
            stacks.push(GoneStack { id: id.clone(), path: path_beside(&new, id), addresses });
            facts.insert(id.clone(), known);
        }
    }
    for RenameCandidate { old, new, evidence } in stacks::rename_candidates(&stacks, &new, None) {
        let Some(facts) = facts.get(&old).cloned() else { continue };
        found.push(Rename { old, new, evidence, facts });
    }
    found
}

fn still_lives(old: &StackId, new: &StackId) -> Error {
    let (quoted_old, quoted_new) = (quoted(old.as_str()), quoted(new.as_str()));
    Error::invalid(format!("`{old}` is gone from the tree, but `{new}` seems to be what became of it"))
        .code(StackError::STACK_RENAMED)
        .detail("destroying it would destroy what lives on under the new name")
        .hint(format!("let it go on with that state: `infra state rename {quoted_old} {quoted_new}`"))
        .hint(format!("if it is to be destroyed, name it: `infra destroy --removed {quoted_old}`"))
}
