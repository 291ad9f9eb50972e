//! A state on its way from one home to another, by infra alone: under locks on both sides,
//! with its versions, compared after the copy, and marked as moved where it was.
//!
//! tofu takes no part, so lineage and serial stay. Each step can be the last one of a killed
//! process: the next attempt finds what is copied already, takes over the locks of the dead
//! and goes on. The old home is marked last. Begin at [`move_state`].

use zeroize::Zeroizing;

use super::session::Session;
use crate::backends::{Hold, StateFacts, StateHome};
use crate::error::{Error, Result};
use crate::model::{StackId, StateLock};
use crate::process;
use crate::state::Mark;

/// A state that is to be moved.
#[derive(Debug)]
pub(super) struct StateMove<'a> {
    /// The stack whose state it is.
    pub id: &'a StackId,
    pub from: &'a StateHome,
    pub to: &'a StateHome,
    /// Where it goes, for those who look for it at the old home.
    pub destination: String,
    /// What the locks say is done.
    pub operation: &'static str,
}

/// What became of a move.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StateMoved {
    /// What was moved.
    pub facts: StateFacts,
    /// How many versions the new home has of it.
    pub versions: usize,
    /// Whether the old home only has a lock to say so: it is a server of another kind.
    pub only_locked: bool,
}

impl StateMove<'_> {
    /// Moves the state; nothing if there is none at the old home.
    pub async fn run(&self, session: &Session) -> Result<Option<StateMoved>> {
        let status = self.from.status().await?;
        if status.as_ref().is_some_and(|status| status.moved.is_some()) {
            return self.finished_before().await;
        }
        // A server that knows no marks is closed by a lock that stays.
        let is_foreign = status.is_none() && matches!(self.from, StateHome::Server(_));
        let lock = if is_foreign { (Mark::MOVED, self.destination.as_str()) } else { (self.operation, "") };
        let from_hold = hold(session, self.from, lock).await?;
        let moved = self.under_lock(session, &from_hold).await;
        match &moved {
            Ok(Some(_)) if is_foreign => from_hold.keep(),
            // The mark took the place of the lock.
            Ok(Some(_)) if self.from.knows_marks() => from_hold.keep(),
            _ => {
                let released = self.from.release(from_hold).await;
                let moved = moved?;
                released?;
                return Ok(moved);
            }
        }
        Ok(moved?.map(|moved| StateMoved { only_locked: is_foreign, ..moved }))
    }

    async fn under_lock(&self, session: &Session, from_hold: &Hold) -> Result<Option<StateMoved>> {
        let Some(bytes) = self.from.read().await? else { return Ok(None) };
        let Some(facts) = StateFacts::of(&bytes) else { return Ok(None) };
        if self.to.status().await?.is_some_and(|status| status.moved.is_some()) {
            self.to.mark(None, Mark::Lifted).await?;
        }
        let to_hold = hold(session, self.to, (self.operation, "")).await?;
        let copied = self.copy(&bytes, &facts, &to_hold).await;
        let released = self.to.release(to_hold).await;
        let versions = copied?;
        released?;
        self.from.mark(Some(from_hold), Mark::Moved { to: self.destination.clone() }).await?;
        Ok(Some(StateMoved { facts, versions, only_locked: false }))
    }

    /// Returns what a move that was killed after its mark has done.
    async fn finished_before(&self) -> Result<Option<StateMoved>> {
        let Some(facts) = self.to.facts().await? else { return Ok(None) };
        let versions = self.to.versions_if_any().await?.map_or(1, |kept| kept.versions.len());
        Ok(Some(StateMoved { facts, versions, only_locked: false }))
    }

    /// Copies what the new home lacks, and compares; returns how many versions it has then.
    async fn copy(&self, bytes: &[u8], facts: &StateFacts, hold: &Hold) -> Result<usize> {
        let there = self.to.read().await?;
        let there_facts = there.as_ref().and_then(|bytes| StateFacts::of(bytes));
        self.check_free(
            facts,
            there_facts.as_ref(),
            there.as_ref().is_some_and(|there| there[..] == *bytes),
        )?;
        if there.as_ref().is_none_or(|there| there[..] != *bytes) {
            for (version, at) in self.missing_versions(there.as_ref(), there_facts.as_ref()).await? {
                self.to.write_version(hold, &version, at).await?;
            }
        }
        if self.to.read().await?.is_none_or(|there| there[..] != *bytes) {
            self.to.write(hold, bytes).await?;
        }
        let stored = self.to.read().await?.unwrap_or_default();
        if !is_same(bytes, &stored) {
            return Err(Error::failed(format!("the copy of the state of `{}` is not the same", self.id))
                .hint("nothing was switched: the old state is as it was"));
        }
        Ok(self.to.versions_if_any().await?.map_or(1, |kept| kept.versions.len()))
    }

    /// Refuses to write over a state that is not an earlier one of the same.
    fn check_free(&self, facts: &StateFacts, there: Option<&StateFacts>, is_same: bool) -> Result<()> {
        let Some(there) = there.filter(|_| !is_same) else { return Ok(()) };
        let conflict = |message: String| {
            Err(Error::failed(message)
                .fact("here", format!("lineage {}, serial {}", facts.lineage, facts.serial))
                .fact("there", format!("lineage {}, serial {}", there.lineage, there.serial)))
        };
        let id = self.id;
        if there.lineage != facts.lineage {
            return conflict(format!("there is another state already where that of `{id}` is to go"));
        }
        if there.serial >= facts.serial {
            return conflict(format!("the state of `{id}` went on at the new place already"));
        }
        Ok(())
    }

    /// Returns the versions that follow what the new home has, oldest first.
    async fn missing_versions(
        &self,
        there: Option<&Zeroizing<Vec<u8>>>,
        facts: Option<&StateFacts>,
    ) -> Result<Vec<(Zeroizing<Vec<u8>>, jiff::Timestamp)>> {
        let Some(kept) = self.from.versions_if_any().await? else { return Ok(Vec::new()) };
        let mut versions = Vec::new();
        for version in kept.versions {
            // One that was pruned meanwhile is history for nobody.
            let Some(bytes) = self.from.version(version.number).await? else { continue };
            if there.is_some_and(|there| **there == *bytes) {
                versions.clear();
                continue;
            }
            let is_older = |facts: &&StateFacts| {
                StateFacts::read(&bytes).is_some_and(|version| version.serial <= facts.serial)
            };
            if facts.is_none_or(|facts| !is_older(&facts)) {
                versions.push((bytes, version.at));
            }
        }
        Ok(versions)
    }
}

/// Holds a state; the lock that a killed process of this kind left is taken over.
pub(super) async fn hold(
    session: &Session,
    home: &StateHome,
    (operation, info): (&str, &str),
) -> Result<Hold> {
    let now = session.clock.now();
    let refused = match home.hold_for(operation, info, now).await {
        Err(error) if error.kind() == crate::error::Kind::Locked => error,
        held => return held,
    };
    match home.lock_of().await? {
        Some(lock) if !is_left_behind(&lock) => Err(refused),
        Some(lock) => {
            home.force_unlock(&lock).await?;
            home.hold_for(operation, info, now).await
        }
        None => home.hold_for(operation, info, now).await,
    }
}

/// Releases the lock that a killed command of this kind left on a state.
///
/// Such a command works without tofu, and each of its steps is whole or not at all.
pub(super) async fn release_left_behind(home: &StateHome) -> Result<()> {
    match home.lock_of().await? {
        Some(lock) if is_left_behind(&lock) => home.force_unlock(&lock).await.map(drop),
        _ => Ok(()),
    }
}

/// Returns whether a lock is one of ours whose process is certainly gone.
fn is_left_behind(lock: &StateLock) -> bool {
    let is_dead = lock.holder.as_ref().is_some_and(|holder| process::holder_is_alive(holder) == Some(false));
    is_dead && lock.info.operation.starts_with("state ") && lock.info.who.starts_with("infra@")
}

/// Returns whether two states are the same, byte for byte or, on a server that writes its own JSON, by content.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    one == other || matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
}
