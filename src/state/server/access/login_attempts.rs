//! Counts failed logins, so that passwords cannot be guessed quickly.
//!
//! Counted for each pair of address and user name, and for each address alone with more
//! patience. An attempt is counted before anything about it is computed, as one that may
//! fail; a success takes that back. So of many guesses that come at once no more are looked
//! at than of those that come one after another, while many right ones only wait for each
//! other. Whoever has failed too often is refused for a short while, even with the right
//! password; then the count begins anew. Memory is bounded: the least and oldest counts go
//! first. Begin at [`Attempts::begin`].

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::source_address::source_of;

/// So many failures of one user from one address are let pass.
const FOR_A_USER: u32 = 10;

/// So many failures of all users from one address are let pass.
const FOR_AN_ADDRESS: u32 = 50;

/// How long failures count, and how long a lockout lasts.
const WINDOW: Duration = Duration::from_secs(20);

/// How many counts are kept.
const MOST: usize = 10_000;

/// How many go at once when there are too many.
const FORGOTTEN: usize = MOST / 10;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Key {
    User(IpAddr, String),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Count {
    failures: u32,
    /// How many attempts are being looked at.
    pending: u32,
    since: Instant,
}

/// Whether an attempt is looked at.
#[derive(Debug, PartialEq, Eq)]
enum AttemptVerdict {
    Now,
    /// When those before it are decided.
    Later,
    /// Not for so long.
    Never(Duration),
}

/// The attempts of a server's callers.
#[derive(Debug, Default)]
pub struct Attempts {
    counts: Mutex<HashMap<Key, Count>>,
    decided: Notify,
}

/// An attempt that is being looked at; unless it succeeds it is a failure.
#[derive(Debug)]
pub struct Attempt<'a> {
    attempts: &'a Attempts,
    keys: [Key; 2],
    is_right: bool,
}

impl Attempts {
    /// Counts an attempt, or returns how long its caller has to wait before it is listened to.
    pub async fn begin(&self, peer: IpAddr, user: &str) -> Result<Attempt<'_>, Duration> {
        let keys = keys_of(peer, user);
        loop {
            let decided = self.decided.notified();
            match self.turn(&keys, Instant::now()) {
                AttemptVerdict::Now => return Ok(Attempt { attempts: self, keys, is_right: false }),
                AttemptVerdict::Never(left) => return Err(left),
                AttemptVerdict::Later => decided.await,
            }
        }
    }

    fn turn(&self, keys: &[Key; 2], now: Instant) -> AttemptVerdict {
        let mut counts = self.counts();
        let found = keys.clone().map(|key| counts.get(&key).copied().unwrap_or_else(|| Count::new(now)));
        let found = found.map(|count| count.as_of(now));
        let limits = keys.each_ref().map(Key::limit);
        for (count, limit) in found.iter().zip(limits) {
            if count.failures >= limit {
                return AttemptVerdict::Never(WINDOW.saturating_sub(now.duration_since(count.since)));
            }
        }
        if found.iter().zip(limits).any(|(count, limit)| count.failures + count.pending >= limit) {
            return AttemptVerdict::Later;
        }
        make_room(&mut counts, now);
        for (key, count) in keys.iter().zip(found) {
            counts.insert(key.clone(), Count { pending: count.pending + 1, ..count });
        }
        AttemptVerdict::Now
    }

    fn settle(&self, keys: &[Key; 2], is_right: bool, now: Instant) {
        let mut counts = self.counts();
        for key in keys {
            let Some(count) = counts.get_mut(key) else { continue };
            *count = count.as_of(now);
            count.pending = count.pending.saturating_sub(1);
            match key {
                _ if !is_right => count.failures += 1,
                // Whoever has come in may have slipped before.
                Key::User(..) => count.failures = 0,
                Key::Address(_) => {}
            }
            if count.failures == 0 && count.pending == 0 {
                counts.remove(key);
            }
        }
        drop(counts);
        self.decided.notify_waiters();
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Key, Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Takes the attempt back: it was right.
    pub fn succeed(mut self) {
        self.is_right = true;
    }
}

/// One whose caller hung up has been looked at all the same.
impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.attempts.settle(&self.keys, self.is_right, Instant::now());
    }
}

impl Key {
    const fn limit(&self) -> u32 {
        match self {
            Self::User(..) => FOR_A_USER,
            Self::Address(_) => FOR_AN_ADDRESS,
        }
    }
}

impl Count {
    const fn new(now: Instant) -> Self {
        Self { failures: 0, pending: 0, since: now }
    }

    /// Returns the count without failures that are too long ago.
    fn as_of(self, now: Instant) -> Self {
        if now.duration_since(self.since) < WINDOW {
            self
        } else {
            Self { pending: self.pending, ..Self::new(now) }
        }
    }
}

fn keys_of(peer: IpAddr, user: &str) -> [Key; 2] {
    let source = source_of(peer);
    // A name is whatever a caller sends; a long one must not fill the memory.
    [Key::User(source, user.chars().take(64).collect()), Key::Address(source)]
}

/// Forgets what counts no longer, and if that is not enough the least and oldest of the rest.
fn make_room(counts: &mut HashMap<Key, Count>, now: Instant) {
    if counts.len() + 2 <= MOST {
        return;
    }
    counts.retain(|_, count| count.pending > 0 || now.duration_since(count.since) < WINDOW);
    if counts.len() + FORGOTTEN <= MOST {
        return;
    }
    let decided = counts.iter().filter(|(_, count)| count.pending == 0);
    let mut ranked: Vec<_> = decided.map(|(key, count)| (count.failures, count.since, key.clone())).collect();
    ranked.sort_unstable_by_key(|(failures, since, _)| (*failures, *since));
    for (_, _, key) in ranked.into_iter().take(FORGOTTEN) {
        counts.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// Fails once; returns whether it was looked at.
    fn fail(attempts: &Attempts, peer: IpAddr, user: &str, now: Instant) -> bool {
        let keys = keys_of(peer, user);
        let is_heard = attempts.turn(&keys, now) == AttemptVerdict::Now;
        if is_heard {
            attempts.settle(&keys, false, now);
        }
        is_heard
    }

    fn is_locked_out(attempts: &Attempts, peer: IpAddr, user: &str, now: Instant) -> bool {
        let keys = keys_of(peer, user);
        let turn = attempts.turn(&keys, now);
        if turn == AttemptVerdict::Now {
            attempts.settle(&keys, true, now);
        }
        matches!(turn, AttemptVerdict::Never(_))
    }

    #[test]
    fn whoever_fails_too_often_has_to_wait_and_is_then_heard_again() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..FOR_A_USER {
            assert!(fail(&attempts, ADDRESS, "dana", now));
        }

        assert!(!fail(&attempts, ADDRESS, "dana", now));
        assert!(!is_locked_out(&attempts, ADDRESS, "kim", now));
        assert!(!is_locked_out(&attempts, ADDRESS, "dana", now + WINDOW + Duration::from_millis(1)));
    }

    #[test]
    fn guessing_with_many_names_is_noticed_too() {
        let (attempts, now) = (Attempts::default(), Instant::now());

        for number in 0..FOR_AN_ADDRESS {
            fail(&attempts, ADDRESS, &number.to_string(), now);
        }

        let elsewhere = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        assert!(is_locked_out(&attempts, ADDRESS, "never tried", now));
        assert!(!is_locked_out(&attempts, elsewhere, "dana", now));
    }

    #[test]
    fn guessing_from_many_addresses_of_one_network_is_noticed_too() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        let peer = |text: String| text.parse().expect("an address");

        let heard =
            (0..80).filter(|number| fail(&attempts, peer(format!("2001:db8::{number:x}")), "dana", now));

        assert_eq!(heard.count(), FOR_A_USER as usize);
        assert!(!is_locked_out(&attempts, peer("2001:db8:0:1::1".to_owned()), "dana", now));
    }

    #[test]
    fn a_success_forgets_the_slips_before_it() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        (1..FOR_A_USER).for_each(|_| assert!(fail(&attempts, ADDRESS, "dana", now)));

        attempts.settle(&keys_of(ADDRESS, "dana"), true, now);

        (0..FOR_A_USER).for_each(|_| assert!(fail(&attempts, ADDRESS, "dana", now)));
    }

    #[tokio::test]
    async fn of_many_attempts_at_once_only_so_many_are_looked_at_before_one_is_decided() {
        let attempts = Attempts::default();
        let mut looked_at = Vec::new();
        for _ in 0..FOR_A_USER {
            looked_at.push(attempts.begin(ADDRESS, "dana").await.expect("a turn"));
        }
        assert_eq!(attempts.turn(&keys_of(ADDRESS, "dana"), Instant::now()), AttemptVerdict::Later);

        looked_at.pop().expect("an attempt").succeed();
        assert!(attempts.begin(ADDRESS, "dana").await.is_ok(), "a success makes room for the next");

        drop(looked_at);
        assert!(attempts.begin(ADDRESS, "dana").await.is_err(), "all others have failed");
    }

    #[test]
    fn a_full_table_forgets_the_least_and_oldest_and_keeps_who_is_locked_out() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        (0..FOR_A_USER).for_each(|_| assert!(fail(&attempts, ADDRESS, "dana", now)));

        for number in 0..2 * MOST as u32 {
            fail(&attempts, IpAddr::V4(std::net::Ipv4Addr::from_bits(number)), "x", now);
            let kept = attempts.counts().len();
            assert!(kept <= MOST, "{kept}");
            assert!(number < MOST as u32 || kept > MOST / 2, "{kept} are left");
        }

        assert!(is_locked_out(&attempts, ADDRESS, "dana", now));
    }
}
