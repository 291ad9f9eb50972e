//! Whether a server can do its work: after a change that the store did not take, it says no
//! until the store takes something again.
//!
//! Everybody may ask, without credentials, so that asking must cost nothing: the store is
//! tried only while there is a doubt, by one caller at a time, and not often.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::{Kind, Result};
use crate::state::StateStore;

/// How often the store may be tried in a row.
const TRIALS: u32 = 3;

/// How long it takes until it may be tried once more.
const PAUSE: Duration = Duration::from_secs(2);

/// Whether the store is known to work.
#[derive(Debug, Default)]
pub(super) struct StoreHealth {
    /// Whether a change failed because of the store since it was last known to work.
    is_in_doubt: AtomicBool,
    /// Held while the store is tried.
    trials: Mutex<RecentTrials>,
}

/// The trials of late.
#[derive(Debug, Default)]
struct RecentTrials {
    used: u32,
    since: Option<Instant>,
}

impl RecentTrials {
    /// Uses one up, if there is one left.
    fn take(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let passed = now.duration_since(since).as_secs() / PAUSE.as_secs();
        if passed > 0 {
            self.used = self.used.saturating_sub(u32::try_from(passed).unwrap_or(u32::MAX));
            self.since = Some(now);
        }
        let is_left = self.used < TRIALS;
        self.used += u32::from(is_left);
        is_left
    }
}

impl StoreHealth {
    /// Remembers a change that failed for a reason of the store.
    pub fn note<T>(&self, outcome: &Result<T>) {
        if matches!(outcome, Err(error) if error.kind() == Kind::Unavailable) {
            self.is_in_doubt.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether changes can be stored.
    pub async fn is_writable(&self, store: &StateStore) -> bool {
        !self.is_in_doubt.load(Ordering::Relaxed) || self.try_out(store).await
    }

    /// Tries the store, unless another request does or did just now; returns whether it works again.
    async fn try_out(&self, store: &StateStore) -> bool {
        let Ok(mut trials) = self.trials.try_lock() else { return false };
        if !trials.take(Instant::now()) {
            return false;
        }
        match store.check_writable().await {
            Ok(()) => self.is_in_doubt.store(false, Ordering::Relaxed),
            // Who asks needs no credentials, so that the reason stays in the log.
            Err(error) => tracing::error!(%error, "the store cannot be written"),
        }
        !self.is_in_doubt.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_tried_a_few_times_and_then_once_in_a_while() {
        let (mut trials, begun) = (RecentTrials::default(), Instant::now());
        let mut heard = |after: Duration| (0..100).filter(|_| trials.take(begun + after)).count();

        assert_eq!(heard(Duration::ZERO), 3);
        assert_eq!(heard(PAUSE), 1);
        assert_eq!(heard(2 * PAUSE), 1);
        assert_eq!(heard(100 * PAUSE), 3);
    }
}
