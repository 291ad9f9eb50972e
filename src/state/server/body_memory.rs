//! Memory for the bodies of requests: taken as their bytes arrive, given back once they are stored.
//!
//! The first part of every body needs none: the number of connections bounds it, and so no
//! lock and no tiny state ever waits. Small bodies have memory of their own, so that none waits
//! behind a large one.
//!
//! # Why no body waits for ever
//!
//! Many bodies that have half arrived could fill the memory while each waits for more. So each
//! says at first how much it will be at most, which costs nothing, and is given more only if
//! there is still an order in which all can come to their end: one whose rest fits into what
//! is free, then one whose rest fits once that is done, and so on (the banker's algorithm).
//! There is always one that can go on. If its client does not send, it is
//! refused ([`MemoryShare::is_wanted`]); a client that waits too long is told to come again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::limits::Limits;

/// The largest body that counts as small.
pub(super) const SMALL: usize = 1024 * 1024;

/// So many bytes of every body are not counted.
pub(super) const UNCHARGED: usize = 64 * 1024;

/// The memory for all small bodies together.
const SMALL_TOGETHER: usize = 32 * 1024 * 1024;

/// Memory is given in such steps.
const STEP: usize = 64 * 1024;

/// The memory that a server has for bodies.
#[derive(Debug)]
pub(super) struct BodyMemory {
    small: Arc<Pool>,
    large: Arc<Pool>,
}

/// Memory that several bodies share.
#[derive(Debug)]
struct Pool {
    shares: Mutex<Shares>,
    /// Notified whenever there is more than before.
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

/// The share of one body, until this is dropped.
#[derive(Debug)]
pub(super) struct MemoryShare {
    pool: Arc<Pool>,
    number: u64,
}

impl BodyMemory {
    /// Makes a memory in which the largest body that is allowed always fits.
    pub fn new(limits: Limits) -> Self {
        let large = limits.together.max(limits.state).max(limits.lock);
        Self { small: Pool::of(SMALL_TOGETHER), large: Pool::of(large) }
    }

    /// Announces a body of at most so many bytes, which uses none yet.
    pub fn announce(&self, most: usize) -> MemoryShare {
        let pool = Arc::clone(if most <= SMALL { &self.small } else { &self.large });
        let mut shares = pool.shares();
        let (number, most) = (shares.next, charged(most).min(shares.size));
        shares.next += 1;
        shares.of.insert(number, Share { held: 0, most });
        drop(shares);
        MemoryShare { pool, number }
    }
}

impl MemoryShare {
    /// Takes memory for the first so many bytes of the body, if there is enough.
    pub fn try_hold(&self, bytes: usize) -> bool {
        self.pool.shares().give(self.number, charged(bytes))
    }

    /// Takes memory for the first so many bytes of the body; returns whether there was enough in time.
    pub async fn hold(&self, bytes: usize, wait: Duration) -> bool {
        let _waiting = Waiting::on(&self.pool);
        let more = async {
            loop {
                let freed = self.pool.freed.notified();
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
        if let Some(share) = self.pool.shares().of.get_mut(&self.number) {
            share.held = share.held.min(charged(bytes));
            share.most = share.held;
        }
        self.pool.freed.notify_waiters();
    }

    /// Returns whether this body uses memory that another one waits for.
    pub fn is_wanted(&self) -> bool {
        let shares = self.pool.shares();
        shares.waiting > 0 && shares.of.get(&self.number).is_some_and(|share| share.held > 0)
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.pool.shares().of.remove(&self.number);
        self.pool.freed.notify_waiters();
    }
}

impl Pool {
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

/// Counts a body as waiting, until this is dropped.
struct Waiting<'a>(&'a Pool);

impl<'a> Waiting<'a> {
    fn on(pool: &'a Pool) -> Self {
        pool.shares().waiting += 1;
        Self(pool)
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

    fn memory() -> BodyMemory {
        BodyMemory::new(Limits { state: 10 * MIB, lock: 1024, together: 15 * MIB })
    }

    #[tokio::test]
    async fn a_large_body_waits_for_room_and_a_small_one_does_not() {
        let memory = memory();
        let (first, second) = (memory.announce(10 * MIB), memory.announce(10 * MIB));

        assert!(first.hold(10 * MIB, SOON).await);
        assert!(!second.hold(6 * MIB, SOON).await);
        assert!(memory.announce(SMALL).hold(SMALL, SOON).await);

        drop(first);
        assert!(second.hold(6 * MIB, SOON).await);
    }

    #[tokio::test]
    async fn what_is_announced_takes_no_room_and_the_first_part_never_waits() {
        let memory = memory();
        let announced: Vec<MemoryShare> = (0..1000).map(|_| memory.announce(10 * MIB)).collect();

        let full = memory.announce(10 * MIB);
        assert!(full.hold(10 * MIB, SOON).await);

        for share in &announced {
            assert!(share.try_hold(UNCHARGED));
        }
    }

    #[tokio::test]
    async fn bodies_that_have_half_arrived_never_wait_for_each_other_for_ever() {
        let memory = memory();
        let mut open: Vec<(MemoryShare, usize)> = (0..7).map(|_| (memory.announce(10 * MIB), 0)).collect();

        // Each takes what it can get, step by step, in turns: somebody always can.
        while !open.is_empty() {
            let mut went_on = false;
            for (share, have) in &mut open {
                if share.try_hold(*have + MIB) {
                    (*have, went_on) = (*have + MIB, true);
                }
            }
            assert!(went_on, "{} bodies wait for each other", open.len());
            open.retain(|(_, have)| *have < 10 * MIB);
        }
    }

    #[tokio::test]
    async fn room_that_is_not_needed_is_for_others() {
        let memory = memory();
        let mut first = memory.announce(10 * MIB);
        assert!(first.hold(10 * MIB, SOON).await);

        first.shrink_to(2 * MIB);

        assert!(memory.announce(10 * MIB).hold(10 * MIB, SOON).await);
        assert!(!memory.announce(15 * MIB).hold(15 * MIB, SOON).await);
    }

    #[tokio::test]
    async fn the_largest_body_fits_however_little_room_is_given() {
        let memory = BodyMemory::new(Limits { state: 10 * MIB, lock: 1024, together: 0 });
        let (first, second) = (memory.announce(10 * MIB), memory.announce(2 * MIB));

        assert!(first.hold(10 * MIB, SOON).await);
        assert!(!second.hold(2 * MIB, SOON).await);
        assert!(!first.is_wanted(), "nobody waits any more");
    }
}
