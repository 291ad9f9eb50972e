//! A state that others are kept from while infra works on it without tofu.

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::model::{LockInfo, StackError};
use crate::process;
use crate::state::{Claim, HeldLock, Locking, Moved, StateName, StateStore, Writing, new_lock_id};

pub(super) fn lock_info(operation: &str, info: &str, at: Timestamp) -> Result<LockInfo> {
    Ok(LockInfo {
        id: new_lock_id()?,
        operation: operation.to_owned(),
        info: info.to_owned(),
        who: format!("infra@{}", process::hostname()),
        created: at.to_string(),
        ..LockInfo::default()
    })
}

pub(super) async fn lock_in_store(store: &StateStore, name: &StateName, info: &LockInfo) -> Result<HeldLock> {
    let info =
        serde_json::to_vec(info).map_err(|error| Error::bug("a lock has no JSON form").because(error))?;
    let wanted = HeldLock::from_client(&info, Some(process::this_holder(None)))?;
    match store.lock(name, &wanted).await? {
        Locking::Granted => Ok(wanted),
        Locking::Moved(held) => Err(moved_away(&held.moved_to().unwrap_or_default())),
        Locking::Held(held) => {
            let info = held.to_state_lock().info;
            Err(Error::locked("somebody else holds the lock of the state")
                .fact("holder", info.who)
                .fact("lock id", info.id)
                .hint("`infra locks`"))
        }
    }
}

pub(super) fn written(writing: Writing) -> Result<()> {
    match writing {
        Writing::Accepted => Ok(()),
        Writing::Moved(_, Moved { to, .. }) => Err(moved_away(&to)),
        Writing::Locked(_) | Writing::Stale | Writing::OfAnother(_) => {
            Err(Error::locked("the lock of the state was lost meanwhile").hint("`infra locks`"))
        }
    }
}

/// Makes the error of a state that is somewhere else now.
fn moved_away(to: &str) -> Error {
    Error::invalid(format!("the state was moved to `{to}`")).code(StackError::STATE_ELSEWHERE)
}

/// A state that runs are kept from until it is released.
#[derive(Debug)]
pub struct Hold {
    /// The lock; `None` if it was only looked at.
    pub(super) lock: Option<HeldLock>,
}

impl Hold {
    /// Returns what the holder may claim in a store.
    pub fn claim(&self) -> Claim {
        Claim { lock_id: self.lock.as_ref().map(|lock| lock.id().to_owned()), user: None }
    }

    /// Leaves the state locked: the lock stays, or something else has taken its place.
    pub fn keep(self) {}
}
