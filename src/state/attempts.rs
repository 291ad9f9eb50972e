//! Failed logins, counted, so that nobody can guess passwords quickly.
//!
//! Counted for each pair of address and user name, and for each address alone with more
//! patience. Whoever has failed too often is refused for a short while, even with the
//! right password; then the count begins anew. Memory is bounded.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// So many failures of one user from one address are let pass.
const FOR_A_USER: u32 = 10;

/// So many failures of all users from one address are let pass.
const FOR_AN_ADDRESS: u32 = 50;

/// How long failures count, and how long a lockout lasts.
const WINDOW: Duration = Duration::from_secs(20);

/// How many counts are kept before old ones are looked through.
const MOST: usize = 10_000;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum Key {
    User(IpAddr, String),
    Address(IpAddr),
}

#[derive(Debug)]
struct Count {
    failures: u32,
    since: Instant,
}

/// The failures of a server's callers.
#[derive(Debug, Default)]
pub(super) struct Attempts(Mutex<HashMap<Key, Count>>);

impl Attempts {
    /// Returns how long a caller has to wait before it is listened to, if it has to.
    pub fn lockout(&self, address: IpAddr, user: &str, now: Instant) -> Option<Duration> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = |key: Key, limit: u32| {
            let count = counts.get(&key)?;
            let left = WINDOW.checked_sub(now.duration_since(count.since))?;
            (count.failures >= limit).then_some(left)
        };
        over(Key::User(address, shortened(user)), FOR_A_USER)
            .or_else(|| over(Key::Address(address), FOR_AN_ADDRESS))
    }

    /// Notes a failure.
    pub fn failed(&self, address: IpAddr, user: &str, now: Instant) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= MOST {
            counts.retain(|_, count| now.duration_since(count.since) < WINDOW);
        }
        if counts.len() >= MOST {
            counts.clear();
        }
        for key in [Key::User(address, shortened(user)), Key::Address(address)] {
            let count = counts.entry(key).or_insert_with(|| Count { failures: 0, since: now });
            if now.duration_since(count.since) >= WINDOW {
                *count = Count { failures: 0, since: now };
            }
            count.failures += 1;
        }
    }

    /// Forgets the failures of a user who has come in.
    pub fn succeeded(&self, address: IpAddr, user: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&Key::User(address, shortened(user)));
    }
}

/// A name is whatever a caller sends; a long one must not fill the memory.
pub(super) fn shortened(user: &str) -> String {
    user.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn whoever_fails_too_often_has_to_wait_and_is_then_heard_again() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..FOR_A_USER {
            assert_eq!(attempts.lockout(ADDRESS, "dana", now), None);
            attempts.failed(ADDRESS, "dana", now);
        }

        assert!(attempts.lockout(ADDRESS, "dana", now).is_some());
        assert_eq!(attempts.lockout(ADDRESS, "kim", now), None);
        assert_eq!(attempts.lockout(ADDRESS, "dana", now + WINDOW + Duration::from_millis(1)), None);
    }

    #[test]
    fn guessing_with_many_names_is_noticed_too() {
        let (attempts, now) = (Attempts::default(), Instant::now());

        for number in 0..FOR_AN_ADDRESS {
            attempts.failed(ADDRESS, &number.to_string(), now);
        }

        let elsewhere = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        assert!(attempts.lockout(ADDRESS, "never tried", now).is_some());
        assert_eq!(attempts.lockout(elsewhere, "dana", now), None);
    }

    #[test]
    fn a_success_forgets_the_slips_before_it() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        (1..FOR_A_USER).for_each(|_| attempts.failed(ADDRESS, "dana", now));

        attempts.succeeded(ADDRESS, "dana");
        attempts.failed(ADDRESS, "dana", now);

        assert_eq!(attempts.lockout(ADDRESS, "dana", now), None);
    }
}
