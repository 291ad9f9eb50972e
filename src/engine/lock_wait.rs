//! Who holds the lock that a running tofu waits for.
//!
//! tofu says that it waits, but not for whom. So the backend is asked in the meantime, where it
//! tells; nothing is asked while no lock is waited for. Begin at [`LockWait`].

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::Notify;

use super::session::Session;
use crate::error::Result;
use crate::events::RunEvent;
use crate::model::{LockHolder, Safe, StackId, StateLock};

/// How long a wait without a known holder may be just a slow backend.
const SLOW: Duration = Duration::from_secs(2);

/// How often it is asked whether another one has the lock by now.
const AGAIN: Duration = Duration::from_secs(10);

/// Whether a tofu waits for a lock.
#[derive(Debug, Default)]
pub(super) struct LockWait {
    begun: Notify,
    waits: Cell<bool>,
    /// Whether somebody was told.
    told: Cell<bool>,
}

impl LockWait {
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

    /// Tells whom tofu waits for, whenever it does.
    pub async fn tell_holders(&self, session: &Session, id: &StackId) -> Infallible {
        loop {
            self.begun.notified().await;
            let mut last = None;
            let mut pause = SLOW;
            while self.waits.get() {
                let holder = holder_of(session, id).await.unwrap_or_default();
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

async fn holder_of(session: &Session, id: &StackId) -> Result<Option<LockHolder>> {
    let lock = session.home_of(session.stack(id)?)?.lock_of().await?;
    Ok(lock.filter(|lock| !lock.info.who.is_empty()).map(|lock| told(session, &lock)))
}

fn told(session: &Session, lock: &StateLock) -> LockHolder {
    let mask = session.mask();
    LockHolder {
        who: Safe::through(&mask, &lock.info.who),
        operation: Safe::through(&mask, &lock.info.operation_word()),
        since: lock.info.created_at(),
    }
}
