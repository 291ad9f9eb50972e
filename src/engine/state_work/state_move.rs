//! A state on its way from one home to another, by infra alone: with its versions, compared
//! after the copy, and marked as moved where it was.
//!
//! tofu takes no part, so lineage and serial stay. At any moment one of the two is live at
//! most: the new home is closed while versions arrive, the old one is marked as moved, then
//! the new one is opened. Each step can be the last one of a killed process: the next attempt
//! finds what is copied already and goes on. Begin at [`StateMove::run`].

use jiff::Timestamp;
use zeroize::Zeroizing;

use crate::backends::{Hold, StateFacts, StateHome};
use crate::engine::session::Session;
use crate::engine::state_check::check_project;
use crate::error::{Error, Kind, Result};
use crate::model::{StackId, StateLock, quoted};
use crate::process;
use crate::state::{Mark, Moved};

/// What stands before the command that finishes a move that broke off.
const ARRIVING: &str = "not here yet, a move broke off; finish it: infra ";

/// A state that is to be moved.
#[derive(Debug)]
pub(super) struct StateMove<'a> {
    /// The stack whose state it is.
    pub id: &'a StackId,
    pub from: &'a StateHome,
    pub to: &'a StateHome,
    /// Where it goes, for those who look for it at the old home.
    pub destination: String,
    /// The command, which finishes a move that broke off.
    pub command: String,
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

/// Returns the command that finishes a move that broke off, if a mark tells of one.
pub fn broken_off(moved: &Moved) -> Option<&str> {
    moved.to.strip_prefix(ARRIVING)
}

impl StateMove<'_> {
    /// Moves the state; `None` if there is none at the old home.
    pub async fn run(&self, session: &Session) -> Result<Option<StateMoved>> {
        let status = self.from.status().await?;
        if let Some(moved) = status.as_ref().and_then(|status| status.moved.as_ref()) {
            return self.finish(moved).await;
        }
        check_project(&session.project, self.id, &status.clone().unwrap_or_default())?;
        // A server that knows no marks is closed by a lock that stays.
        let is_foreign = status.is_none() && matches!(self.from, StateHome::Server(_));
        let lock = if is_foreign { (Mark::MOVED, self.destination.as_str()) } else { (self.operation, "") };
        let from_hold = lock_for_move(session, self.from, lock).await?;
        match self.under_lock(session, &from_hold).await {
            // The mark took the place of the lock, or the lock is the mark.
            Ok(Some(moved)) if is_foreign || self.from.knows_marks() => {
                from_hold.keep();
                Ok(Some(StateMoved { only_locked: is_foreign, ..moved }))
            }
            moved => {
                let released = self.from.release(from_hold).await;
                let moved = moved?;
                released.map(|()| moved)
            }
        }
    }

    async fn under_lock(&self, session: &Session, from_hold: &Hold) -> Result<Option<StateMoved>> {
        let Some(bytes) = self.from.read().await? else { return Ok(None) };
        let Some(facts) = StateFacts::of(&bytes) else { return Ok(None) };
        let (now, lost) = (session.clock.now(), || Mark::Moved { to: self.destination.clone() });
        if let Some(closed) = self.closed_target(session, &bytes).await? {
            let versions = self.copy((&bytes, now), &facts, &closed).await?;
            self.from.mark(Some(from_hold), lost()).await?;
            self.to.mark(Some(&closed), Mark::Lifted).await?;
            return Ok(Some(StateMoved { facts, versions, only_locked: false }));
        }
        let to_hold = lock_for_move(session, self.to, (self.operation, "")).await?;
        let copied = self.copy((&bytes, now), &facts, &to_hold).await;
        if copied.is_ok() {
            self.from.mark(Some(from_hold), lost()).await?;
        }
        let released = self.to.release(to_hold).await;
        let versions = copied?;
        released?;
        Ok(Some(StateMoved { facts, versions, only_locked: false }))
    }

    /// Closes the new home, unless it has the very state already or knows no marks.
    async fn closed_target(&self, session: &Session, bytes: &[u8]) -> Result<Option<Hold>> {
        let Some(status) = self.to.status().await? else { return Ok(None) };
        check_project(&session.project, self.id, &status)?;
        if status.moved.is_none() {
            // What lives there is looked at before anything is closed.
            let there = self.to.read().await?;
            self.check_free(bytes, there.as_deref().map(Vec::as_slice)).await?;
        }
        release_left_behind(self.to).await?;
        self.to.close(&format!("{ARRIVING}{}", self.command)).await
    }

    /// Goes on with a move that was killed after the old home was marked.
    async fn finish(&self, moved: &Moved) -> Result<Option<StateMoved>> {
        if moved.to != self.destination {
            return Ok(None);
        }
        if self
            .to
            .status()
            .await?
            .and_then(|status| status.moved)
            .is_some_and(|moved| broken_off(&moved).is_some())
        {
            self.to.mark(None, Mark::Lifted).await?;
        }
        let (from, to) = (self.kept_lineage().await?, self.to.facts().await?);
        let Some(facts) = to.filter(|facts| from.is_none_or(|lineage| lineage == facts.lineage)) else {
            return Ok(None);
        };
        let versions = self.to.versions_if_any().await?.map_or(1, |kept| kept.versions.len());
        Ok(Some(StateMoved { facts, versions, only_locked: false }))
    }

    /// Returns the lineage of what was kept at the old home.
    async fn kept_lineage(&self) -> Result<Option<String>> {
        let Some(kept) = self.from.versions_if_any().await? else { return Ok(None) };
        let Some(newest) = kept.versions.last() else { return Ok(None) };
        let bytes = self.from.version(newest.number).await?;
        Ok(bytes.and_then(|bytes| StateFacts::of(&bytes)).map(|facts| facts.lineage))
    }

    /// Copies what the new home lacks, and compares; returns how many versions it has then.
    async fn copy(
        &self,
        (bytes, now): (&[u8], Timestamp),
        facts: &StateFacts,
        lock_for_move: &Hold,
    ) -> Result<usize> {
        let there = self.to.kept_bytes().await?;
        if there.as_ref().is_none_or(|there| there[..] != *bytes) {
            self.check_free(bytes, there.as_deref().map(Vec::as_slice)).await?;
            for (version, at) in self.missing_versions(there.as_deref().map(Vec::as_slice)).await? {
                self.to.write_version(lock_for_move, &version, at).await?;
            }
        }
        if self.to.kept_bytes().await?.is_none_or(|there| there[..] != *bytes) {
            self.to.write_version(lock_for_move, bytes, now).await?;
        }
        let stored = self.to.kept_bytes().await?.unwrap_or_default();
        if !is_same(bytes, &stored) {
            return Err(Error::failed(format!("the copy of the state of `{}` is not the same", self.id))
                .fact("serial", facts.serial.to_string())
                .hint("the old state is as it was; look at the store, then repeat the command"));
        }
        Ok(self.to.versions_if_any().await?.map_or(1, |kept| kept.versions.len()))
    }

    /// Refuses to write over a state that is not an earlier one of the same.
    async fn check_free(&self, bytes: &[u8], there: Option<&[u8]>) -> Result<()> {
        let Some(there) = there.filter(|there| *there != bytes) else { return Ok(()) };
        let (Some(mine), Some(theirs)) = (StateFacts::of(bytes), StateFacts::of(there)) else {
            return Ok(());
        };
        let is_earlier = mine.lineage == theirs.lineage && self.is_history(there, &theirs).await?;
        if is_earlier {
            return Ok(());
        }
        let message = match mine.lineage == theirs.lineage {
            true => format!("the state of `{}` went on at both places", self.id),
            false => format!("there is another state already where that of `{}` is to go", self.id),
        };
        let described = |facts: &StateFacts| format!("lineage {}, serial {}", facts.lineage, facts.serial);
        let id = quoted(self.id.as_str());
        Err(Error::failed(message)
            .fact("here", described(&mine))
            .fact("there", described(&theirs))
            .hint(format!("compare them first: `infra state list {id}` with each place configured"))
            .hint(format!(
                "what is there can be given up: `infra state forget {id}`, then repeat the command"
            )))
    }

    /// Returns whether what lies at the new home is an earlier version of what comes.
    async fn is_history(&self, there: &[u8], facts: &StateFacts) -> Result<bool> {
        let Some(kept) = self.from.versions_if_any().await? else { return Ok(false) };
        let mut oldest = u64::MAX;
        for version in kept.versions {
            let Some(bytes) = self.from.version(version.number).await? else { continue };
            if bytes[..] == *there {
                return Ok(true);
            }
            oldest = oldest.min(StateFacts::read(&bytes).map_or(u64::MAX, |facts| facts.serial));
        }
        // Older than all that is kept of it.
        Ok(facts.serial < oldest)
    }

    /// Returns the versions that follow what the new home has, oldest first.
    async fn missing_versions(&self, there: Option<&[u8]>) -> Result<Vec<(Zeroizing<Vec<u8>>, Timestamp)>> {
        let Some(kept) = self.from.versions_if_any().await? else { return Ok(Vec::new()) };
        let mut versions = Vec::new();
        for version in kept.versions {
            // One that was pruned meanwhile is history for nobody.
            let Some(bytes) = self.from.version(version.number).await? else { continue };
            if there.is_some_and(|there| *there == bytes[..]) {
                versions.clear();
            } else {
                versions.push((bytes, version.at));
            }
        }
        Ok(versions)
    }
}

/// Holds a state; the lock that a killed process of this kind left is taken over.
pub(super) async fn lock_for_move(
    session: &Session,
    home: &StateHome,
    (operation, info): (&str, &str),
) -> Result<Hold> {
    let now = session.clock.now();
    let refused = match home.hold_for(operation, info, now).await {
        Err(error) if error.kind() == Kind::Locked => error,
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
/// Such a command works without tofu, and what it writes is seen only when all of it is there.
pub async fn release_left_behind(home: &StateHome) -> Result<()> {
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
