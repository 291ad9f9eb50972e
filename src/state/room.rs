//! Room in memory for the bodies of requests: taken before a body is read, given back
//! once what it holds is stored.
//!
//! Small bodies have room of their own, so that none waits behind a large one. A large
//! body is let in with room for all of it; whoever holds such room never waits for more,
//! so all that are let in come to an end and the others get their turn, in order.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::Limits;

/// Room is counted in units of so many bytes.
const UNIT: usize = 1024;

/// The largest body that counts as small.
pub(super) const SMALL: usize = 1024 * 1024;

/// The room for all small bodies together.
const SMALL_TOGETHER: usize = 32 * 1024 * 1024;

/// The room that a server has.
#[derive(Debug)]
pub(super) struct Rooms {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

/// Room that is taken until this is dropped.
#[derive(Debug, Default)]
pub(super) struct Room(Option<OwnedSemaphorePermit>);

impl Rooms {
    /// Makes room; the largest body that may come always fits.
    pub fn of(limits: Limits) -> Self {
        let large = limits.together.max(limits.state).max(limits.lock);
        let lane = |bytes| Arc::new(Semaphore::new(units(bytes) as usize));
        Self { small: lane(SMALL_TOGETHER), large: lane(large) }
    }

    /// Takes room for so many bytes; nothing if there is none for so long.
    pub async fn take(&self, bytes: usize, wait: Duration) -> Option<Room> {
        if bytes == 0 {
            return Some(Room::default());
        }
        let lane = if bytes <= SMALL { &self.small } else { &self.large };
        let turn = Arc::clone(lane).acquire_many_owned(units(bytes));
        Some(Room(Some(timeout(wait, turn).await.ok()?.ok()?)))
    }
}

impl Room {
    /// Gives back what is not needed for so many bytes.
    pub fn shrink_to(&mut self, bytes: usize) {
        if let Some(taken) = &mut self.0 {
            let spare = taken.num_permits().saturating_sub(units(bytes) as usize);
            drop(taken.split(spare));
        }
    }
}

/// Four tebibytes are as good as any number beyond.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;
    const SOON: Duration = Duration::from_millis(20);
    const LATE: Duration = Duration::from_secs(60);

    fn rooms() -> Rooms {
        Rooms::of(Limits { state: 10 * MIB, lock: 1024, together: 15 * MIB })
    }

    #[tokio::test]
    async fn a_large_body_waits_for_its_turn_and_a_small_one_does_not() {
        let rooms = rooms();
        let first = rooms.take(10 * MIB, SOON).await.expect("room");

        assert!(rooms.take(6 * MIB, SOON).await.is_none());
        assert!(rooms.take(SMALL, SOON).await.is_some());

        drop(first);
        assert!(rooms.take(6 * MIB, SOON).await.is_some());
    }

    #[tokio::test]
    async fn room_that_is_not_needed_is_for_others() {
        let rooms = rooms();
        let mut first = rooms.take(10 * MIB, SOON).await.expect("room");

        first.shrink_to(2 * MIB);

        assert!(rooms.take(10 * MIB, SOON).await.is_some());
        assert!(rooms.take(15 * MIB, SOON).await.is_none());
    }

    #[tokio::test]
    async fn the_largest_body_fits_however_little_room_is_given() {
        let rooms = Rooms::of(Limits { state: 10 * MIB, lock: 1024, together: 0 });

        let (first, second) = tokio::join!(rooms.take(10 * MIB, LATE), async {
            tokio::task::yield_now().await;
            rooms.take(2 * MIB, SOON).await
        });

        assert!(first.is_some() && second.is_none());
    }
}
