//! What this process knows about the newest entries, so that most requests need no listing.
//!
//! An entry never changes and its successor is never pruned within three hours, so
//! whoever knew entry N as the newest a short while ago has only to ask for N+1: if it is
//! missing, N still is the newest. What is known too long, or according to a clock that
//! went back, is forgotten. Correctness never rests on it: a change that was decided on
//! an old head fails to create the next number.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::log_entry::Header;
use crate::state::StateName;

/// How long a head is trusted; far below the time that superseded entries are kept.
const TRUSTED: SignedDuration = SignedDuration::from_mins(10);

/// How many are remembered before all are forgotten.
const MOST: usize = 1024;

/// The newest entries as they were last seen.
#[derive(Debug, Default)]
pub(super) struct KnownHeads(Mutex<HashMap<StateName, KnownHead>>);

/// A newest entry.
#[derive(Clone, Debug)]
pub(super) struct KnownHead {
    pub number: u64,
    pub header: Header,
    /// When a listing last told all entries.
    pub listed: Timestamp,
}

impl KnownHeads {
    /// Returns what is known about a state, unless it is too old.
    pub fn get(&self, name: &StateName, now: Timestamp) -> Option<KnownHead> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()?;
        let age = now.duration_since(known.listed);
        (!age.is_negative() && age < TRUSTED).then_some(known)
    }

    /// Remembers a head, unless a newer one is known.
    pub fn set(&self, name: &StateName, head: KnownHead) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST && !all.contains_key(name) {
            all.clear();
        }
        match all.get_mut(name) {
            Some(known) if known.number > head.number && known.listed >= head.listed => {}
            Some(known) => *known = head,
            None => drop(all.insert(name.clone(), head)),
        }
    }

    /// Forgets a state.
    pub fn forget(&self, name: &StateName) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a moment in range")
    }

    fn head(number: u64, second: i64) -> KnownHead {
        KnownHead { number, header: Header::default(), listed: at(second) }
    }

    #[test]
    fn a_head_is_trusted_for_a_while_and_never_by_a_clock_that_went_back() {
        let (heads, name) = (KnownHeads::default(), StateName::parse("a").expect("a name"));

        heads.set(&name, head(7, 1000));

        assert_eq!(heads.get(&name, at(1599)).map(|known| known.number), Some(7));
        assert!(heads.get(&name, at(1600)).is_none());
        assert!(heads.get(&name, at(999)).is_none());
    }

    #[test]
    fn an_older_head_never_replaces_a_newer_one_of_the_same_listing() {
        let (heads, name) = (KnownHeads::default(), StateName::parse("a").expect("a name"));
        heads.set(&name, head(7, 1000));

        heads.set(&name, head(6, 1000));
        assert_eq!(heads.get(&name, at(1000)).map(|known| known.number), Some(7));

        heads.set(&name, head(3, 1001));
        assert_eq!(heads.get(&name, at(1001)).map(|known| known.number), Some(3));
    }
}
