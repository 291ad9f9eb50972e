//! What is decided on the newest entry of a state: who gets the lock, who may give it back,
//! who may write.
//!
//! Pure: a header and a claim in, the answer and the next entry out. The store makes the
//! entry, or decides anew if somebody else was first.

use super::log::Durability;
use super::log_entry::{Header, LogEntry};
use crate::state::{HeldLock, Moved};

/// The answer to a lock request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Locking {
    /// It is held under the wanted id, newly or already.
    Granted,
    /// Somebody else holds it.
    Held(HeldLock),
    /// The state was moved; the lock names the new place.
    Moved(HeldLock),
}

/// The answer to an unlock request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unlocking {
    /// It was held under this id and is free now.
    Released(HeldLock),
    /// Its holder had given it back before: the repetition of a request.
    Repeated,
    /// Nobody holds it.
    NotLocked,
    /// It is held under another id.
    Held(HeldLock),
    /// It is held under this id by another user, against whom the caller may not release it.
    OfAnother(HeldLock),
    /// The state was moved; no unlocking lifts that.
    Moved(HeldLock),
}

/// The answer to a write or a deletion.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Writing {
    /// It is stored.
    Accepted,
    /// Somebody else holds the lock, or the writer named no lock while one is held.
    Locked(HeldLock),
    /// The writer's lock is gone: somebody released it by force.
    Stale,
    /// The lock that the writer names was taken by another user.
    OfAnother(HeldLock),
    /// The state was moved: the lock that says so, and where it is now.
    Moved(HeldLock, Moved),
}

/// The lock under which something is done, and who does it.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// The id of the lock.
    pub lock_id: Option<String>,
    /// The user, where locks of other users are out of reach.
    pub user: Option<String>,
}

impl Claim {
    pub(super) fn of(lock_id: Option<&str>) -> Self {
        Self { lock_id: lock_id.map(str::to_owned), user: None }
    }
}

/// What to do after a look at the newest entry.
pub(super) enum Decision<T> {
    Answer(T),
    Append(Box<LogEntry>, Durability, T),
}

impl<T> Decision<T> {
    pub(super) fn append(entry: LogEntry, durability: Durability, answer: T) -> Self {
        Self::Append(Box::new(entry), durability, answer)
    }
}

/// Decides whether the lock is granted.
pub(super) fn locking(header: &Header, wanted: &HeldLock) -> Decision<Locking> {
    if let Some((lock, _)) = header.moved_away() {
        return Decision::Answer(Locking::Moved(lock));
    }
    match &header.lock {
        Some(held) if held.id() == wanted.id() && !held.is_of_another(wanted.owner()) => {
            Decision::Answer(Locking::Granted)
        }
        Some(held) => Decision::Answer(Locking::Held(held.clone())),
        None => {
            let header = Header { lock: Some(wanted.clone()), released: None, ..header.clone() };
            // A power cut that undoes a lock has ended its holder too; should one live on another
            // host, its writes are refused. Waiting for the disk would cost every plan.
            Decision::append(LogEntry::marker(header), Durability::Quick, Locking::Granted)
        }
    }
}

/// Decides whether the lock is released; `released` is the id that its own holder gives back.
pub(super) fn unlocking(header: &Header, claim: &Claim, released: Option<&String>) -> Decision<Unlocking> {
    if let Some((lock, _)) = header.moved_away() {
        return Decision::Answer(Unlocking::Moved(lock));
    }
    let (id, user) = (claim.lock_id.as_deref(), claim.user.as_deref());
    match &header.lock {
        Some(held) if Some(held.id()) == id && held.is_of_another(user) => {
            Decision::Answer(Unlocking::OfAnother(held.clone()))
        }
        Some(held) if Some(held.id()) == id => {
            let header = Header { lock: None, released: released.cloned(), ..header.clone() };
            // A power cut may bring the lock back, for somebody to release once more.
            Decision::append(LogEntry::marker(header), Durability::Quick, Unlocking::Released(held.clone()))
        }
        Some(held) => Decision::Answer(Unlocking::Held(held.clone())),
        None if id.is_some() && header.released.as_deref() == id => Decision::Answer(Unlocking::Repeated),
        None => Decision::Answer(Unlocking::NotLocked),
    }
}

/// Returns why a writer with this claim may not write, if it may not.
pub(super) fn refusal(header: &Header, claim: &Claim) -> Option<Writing> {
    if let Some((lock, moved)) = header.moved_away() {
        return Some(Writing::Moved(lock, moved));
    }
    match (&header.lock, claim.lock_id.as_deref()) {
        (Some(held), Some(id)) if held.id() == id => {
            held.is_of_another(claim.user.as_deref()).then(|| Writing::OfAnother(held.clone()))
        }
        (Some(held), _) => Some(Writing::Locked(held.clone())),
        (None, Some(_)) => Some(Writing::Stale),
        (None, None) => None,
    }
}

/// Returns why a version that comes from another store may not be written, if it may not.
///
/// Whoever brings a state back writes under the lock that closes it, so that nobody meets a part of it.
pub(super) fn arrival_refusal(header: &Header, claim: &Claim) -> Option<Writing> {
    let closed = header.moved_away();
    let brings_back = closed.is_some_and(|(lock, _)| claim.lock_id.as_deref() == Some(lock.id()));
    if brings_back { None } else { refusal(header, claim) }
}
