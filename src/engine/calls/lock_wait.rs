//! Who holds the lock that a running tofu waits for.
//!
//! tofu says that it waits, but not for whom. So the backend is asked in the meantime, where it
//! tells; nothing is asked while no lock is waited for. Begin at [`LockWait`].

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;

use super::working_notes::is_from_here;
use crate::engine::session::Session;
use crate::error::Result;
use crate::events::RunEvent;
use crate::model::{LockHolder, Safe, StackId, StateLock};

/// How long a wait without a known holder may be just a slow backend.
const SLOW: Duration = Duration::from_secs(2);

/// How often it is asked whether another one has the lock by now.
const AGAIN: Duration = Duration::from_secs(10);

/// Whether a tofu waits for a lock.
#[derive(Debug)]
pub(super) struct LockWait {
    /// When the tofu was started.
    started: Timestamp,
    begun: Notify,
    waits: Cell<bool>,
    /// Whether somebody was told.
    told: Cell<bool>,
}

impl LockWait {
    /// Begins with a tofu that is about to start.
    pub fn of_tofu_started(started: Timestamp) -> Self {
        Self { started, begun: Notify::new(), waits: Cell::new(false), told: Cell::new(false) }
    }

    /// Notes that tofu waits.
    pub fn begin(&self) {
        self.waits.set(true);
        self.begun.notify_one();
    }

    /// Notes that tofu goes on, and returns whether somebody was told that it waits.
    pub fn end(&self) -> bool {
        self.waits.set(false);
        self.told.take()
    }

    /// Returns whether a lock was made on this host since the tofu began.
    fn may_be_own(&self, lock: &StateLock) -> bool {
        is_from_here(lock) && lock.info.created_at().is_some_and(|created| created >= self.started)
    }

    /// Tells whom tofu waits for, whenever it does.
    pub async fn tell_holders(&self, session: &Session, id: &StackId) -> Infallible {
        loop {
            self.begun.notified().await;
            let mut last = None;
            let mut pause = SLOW;
            while self.waits.get() {
                let lock = lock_of(session, id).await.unwrap_or_default();
                // Its own lock is held by nobody else: reading a state behind it may take long.
                let lock = lock.filter(|lock| last.is_some() || !self.may_be_own(lock));
                let holder = lock.map(|lock| told(session, &lock));
                let is_news = last.as_ref() != Some(&holder) && (holder.is_some() || pause == AGAIN);
                if self.waits.get() && is_news {
                    self.told.set(true);
                    let stack = id.clone();
                    session.events.emit(RunEvent::LockAwaited { stack, holder: holder.clone() });
                    last = Some(holder);
                }
                tokio::time::sleep(pause).await;
                pause = AGAIN;
            }
        }
    }
}

async fn lock_of(session: &Session, id: &StackId) -> Result<Option<StateLock>> {
    let lock = session.home_of(session.stack(id)?)?.lock_of().await?;
    Ok(lock.filter(|lock| !lock.info.who.is_empty()))
}

fn told(session: &Session, lock: &StateLock) -> LockHolder {
    let mask = session.mask();
    LockHolder {
        who: Safe::through(&mask, &lock.info.who),
        operation: Safe::through(&mask, &lock.info.operation_word()),
        since: lock.info.created_at(),
    }
}
