//! Room in memory for the bodies of requests: taken as their bytes arrive, given back once
//! what they hold is stored.
//!
//! The first part of every body needs none: the number of connections bounds it, and so no
//! lock and no tiny state ever waits. Small bodies have room of their own, so that none waits
//! behind a large one.
//!
//! # Why nobody waits for ever
//!
//! Many bodies that have half arrived could fill the room while each waits for more. So each
//! says at first how much it will be at most, which costs nothing, and is given more only if
//! there is still an order in which all can come to their end: one whose rest fits into what
//! is free, then one whose rest fits once that is done, and so on (the banker's algorithm).
//! There is always one that can go on. Should it not send, it has to leave
//! ([`Room::is_wanted`]); whoever waits too long is told to come again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::Limits;

/// The largest body that counts as small.
pub(super) const SMALL: usize = 1024 * 1024;

/// So many bytes of every body need no room.
pub(super) const UNCHARGED: usize = 64 * 1024;

/// The room for all small bodies together.
const SMALL_TOGETHER: usize = 32 * 1024 * 1024;

/// Room is given in such steps.
const STEP: usize = 64 * 1024;

/// The room that a server has.
#[derive(Debug)]
pub(super) struct Rooms {
    small: Arc<Lane>,
    large: Arc<Lane>,
}

/// Bodies that share room.
#[derive(Debug)]
struct Lane {
    shares: Mutex<Shares>,
    /// Told whenever there is more room than before.
    freed: Notify,
}

#[derive(Debug)]
struct Shares {
    size: usize,
    /// How many bodies wait for more.
    waiting: usize,
    next: u64,
    of: BTreeMap<u64, Share>,
}

/// What one body has, and the most it will want.
#[derive(Clone, Copy, Debug)]
struct Share {
    held: usize,
    most: usize,
}

/// The room of one body, until this is dropped.
#[derive(Debug)]
pub(super) struct Room {
    lane: Arc<Lane>,
    number: u64,
}

impl Rooms {
    /// Makes room; the largest body that may come always fits.
    pub fn of(limits: Limits) -> Self {
        let large = limits.together.max(limits.state).max(limits.lock);
        Self { small: Lane::of(SMALL_TOGETHER), large: Lane::of(large) }
    }

    /// Announces a body of at most so many bytes, which has no room yet.
    pub fn announce(&self, most: usize) -> Room {
        let lane = Arc::clone(if most <= SMALL { &self.small } else { &self.large });
        let mut shares = lane.shares();
        let (number, most) = (shares.next, charged(most).min(shares.size));
        shares.next += 1;
        shares.of.insert(number, Share { held: 0, most });
        drop(shares);
        Room { lane, number }
    }
}

impl Room {
    /// Takes room for the first so many bytes of the body, if there is enough.
    pub fn try_hold(&self, bytes: usize) -> bool {
        self.lane.shares().give(self.number, charged(bytes))
    }

    /// Takes room for the first so many bytes of the body; returns whether there was enough in time.
    pub async fn hold(&self, bytes: usize, wait: Duration) -> bool {
        let _waiting = Waiting::on(&self.lane);
        let more = async {
            loop {
                let freed = self.lane.freed.notified();
                if self.try_hold(bytes) {
                    return;
                }
                freed.await;
            }
        };
        timeout(wait, more).await.is_ok()
    }

    /// Gives back what is not needed for so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(share) = self.lane.shares().of.get_mut(&self.number) {
            share.held = share.held.min(charged(bytes));
            share.most = share.held;
        }
        self.lane.freed.notify_waiters();
    }

    /// Returns whether this body has room that another one waits for.
    pub fn is_wanted(&self) -> bool {
        let shares = self.lane.shares();
        shares.waiting > 0 && shares.of.get(&self.number).is_some_and(|share| share.held > 0)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.lane.shares().of.remove(&self.number);
        self.lane.freed.notify_waiters();
    }
}

impl Lane {
    fn of(size: usize) -> Arc<Self> {
        let shares = Shares { size, waiting: 0, next: 0, of: BTreeMap::new() };
        Arc::new(Self { shares: Mutex::new(shares), freed: Notify::new() })
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shares {
    /// Lets a body have so much in all, if that leaves a way for everybody to come to an end.
    fn give(&mut self, number: u64, bytes: usize) -> bool {
        let Some(share) = self.of.get_mut(&number) else { return false };
        if bytes <= share.held {
            return true;
        }
        let before = share.held;
        share.held = bytes.next_multiple_of(STEP).min(share.most.max(bytes));
        let is_safe = self.is_safe();
        if let Some(share) = self.of.get_mut(&number).filter(|_| !is_safe) {
            share.held = before;
        }
        is_safe
    }

    /// Returns whether all can get their most, one after the other.
    fn is_safe(&self) -> bool {
        let taken: usize = self.of.values().map(|share| share.held).sum();
        let Some(mut free) = self.size.checked_sub(taken) else { return false };
        let mut rests: Vec<(usize, usize)> =
            self.of.values().map(|share| (share.rest(), share.held)).collect();
        rests.sort_unstable();
        rests.into_iter().all(|(rest, held)| {
            let fits = rest <= free;
            free += held;
            fits
        })
    }
}

impl Share {
    const fn rest(self) -> usize {
        self.most.saturating_sub(self.held)
    }
}

/// Says for as long as it lives that somebody waits.
struct Waiting<'a>(&'a Lane);

impl<'a> Waiting<'a> {
    fn on(lane: &'a Lane) -> Self {
        lane.shares().waiting += 1;
        Self(lane)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.shares().waiting -= 1;
    }
}

const fn charged(bytes: usize) -> usize {
    bytes.saturating_sub(UNCHARGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;
    const SOON: Duration = Duration::from_millis(20);

    fn rooms() -> Rooms {
        Rooms::of(Limits { state: 10 * MIB, lock: 1024, together: 15 * MIB })
    }

    #[tokio::test]
    async fn a_large_body_waits_for_room_and_a_small_one_does_not() {
        let rooms = rooms();
        let (first, second) = (rooms.announce(10 * MIB), rooms.announce(10 * MIB));

        assert!(first.hold(10 * MIB, SOON).await);
        assert!(!second.hold(6 * MIB, SOON).await);
        assert!(rooms.announce(SMALL).hold(SMALL, SOON).await);

        drop(first);
        assert!(second.hold(6 * MIB, SOON).await);
    }

    #[tokio::test]
    async fn what_is_announced_takes_no_room_and_the_first_part_never_waits() {
        let rooms = rooms();
        let announced: Vec<Room> = (0..1000).map(|_| rooms.announce(10 * MIB)).collect();

        let full = rooms.announce(10 * MIB);
        assert!(full.hold(10 * MIB, SOON).await);

        for room in &announced {
            assert!(room.try_hold(UNCHARGED));
        }
    }

    #[tokio::test]
    async fn bodies_that_have_half_arrived_never_wait_for_each_other_for_ever() {
        let rooms = rooms();
        let mut open: Vec<(Room, usize)> = (0..7).map(|_| (rooms.announce(10 * MIB), 0)).collect();

        // Each takes what it can get, step by step, in turns: somebody always can.
        while !open.is_empty() {
            let mut went_on = false;
            for (room, have) in &mut open {
                if room.try_hold(*have + MIB) {
                    (*have, went_on) = (*have + MIB, true);
                }
            }
            assert!(went_on, "{} bodies wait for each other", open.len());
            open.retain(|(_, have)| *have < 10 * MIB);
        }
    }

    #[tokio::test]
    async fn room_that_is_not_needed_is_for_others() {
        let rooms = rooms();
        let mut first = rooms.announce(10 * MIB);
        assert!(first.hold(10 * MIB, SOON).await);

        first.shrink_to(2 * MIB);

        assert!(rooms.announce(10 * MIB).hold(10 * MIB, SOON).await);
        assert!(!rooms.announce(15 * MIB).hold(15 * MIB, SOON).await);
    }

    #[tokio::test]
    async fn the_largest_body_fits_however_little_room_is_given() {
        let rooms = Rooms::of(Limits { state: 10 * MIB, lock: 1024, together: 0 });
        let (first, second) = (rooms.announce(10 * MIB), rooms.announce(2 * MIB));

        assert!(first.hold(10 * MIB, SOON).await);
        assert!(!second.hold(2 * MIB, SOON).await);
        assert!(!first.is_wanted(), "nobody waits any more");
    }
}
