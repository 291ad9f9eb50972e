//! Ctrl-Z: this program and its children stop together and go on together.
//!
//! The key reaches the terminal's foreground group only, and each child leads a group of its
//! own. Were this program alone stopped, tofu would go on changing machines, would find nobody
//! to save its state with, and would stand still at a full pipe. So the stop is passed on to
//! the children's groups, then this process stops itself; when it is woken it wakes them.
//!
//! A thread of its own waits for the key, because the others may be busy. A child that was
//! lent the terminal is in the foreground group and hears the key, and the shell's `fg`,
//! itself.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, killpg, raise};
use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid};
use tokio::signal::unix::{SignalKind, signal};

use super::liveness::parent_of;
use crate::error::{Error, Result};

/// The groups of the children that are at work; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups(Arc<Mutex<BTreeSet<Pid>>>);

/// A group that is stopped and woken with this process, until it is dropped.
#[derive(Debug)]
pub(super) struct Member {
    groups: Groups,
    group: Pid,
}

impl Groups {
    /// Starts the leader of a group; no stop comes between its start and its being known.
    pub fn joined_by<T>(
        &self,
        start: impl FnOnce() -> Result<T>,
        group_of: impl FnOnce(&T) -> Option<Pid>,
    ) -> Result<(T, Option<Member>)> {
        let mut groups = self.lock();
        let started = start()?;
        let member = group_of(&started).map(|group| {
            groups.insert(group);
            Member { groups: self.clone(), group }
        });
        Ok((started, member))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the children and this process, and wakes the children when it is woken.
    fn suspend(&self) {
        let groups = self.lock();
        // Without a terminal it was no key: whoever sent the signal can also wake this process.
        if is_orphaned() && has_terminal() {
            return;
        }
        let tell = |signal| {
            for group in groups.iter() {
                // One that is gone needs no signal.
                let _ = killpg(*group, signal);
            }
        };
        tell(Signal::SIGTSTP);
        // Meant for this thread, so that it does not go on before all of them stand still.
        let _ = raise(Signal::SIGSTOP);
        tell(Signal::SIGCONT);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.groups.lock().remove(&self.group);
    }
}

/// Begins to listen for the key.
pub(super) fn listen(groups: Groups) -> Result<()> {
    let refused = |error| Error::unavailable("cannot listen for signals").because(error);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(refused)?;
    let mut keys = {
        let _inside = runtime.enter();
        signal(SignalKind::from_raw(Signal::SIGTSTP as i32)).map_err(refused)?
    };
    let wait = async move {
        while keys.recv().await.is_some() {
            groups.suspend();
        }
    };
    let thread = std::thread::Builder::new().name("suspension".to_owned());
    thread.spawn(move || runtime.block_on(wait)).map(drop).map_err(refused)
}

/// Returns whether there is a terminal whose key could have sent the signal.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// Returns whether no process could wake this one: a group without a shell beside it is not stopped
/// by the system either.
fn is_orphaned() -> bool {
    let (group, session) = (getpgrp(), getsid(None).ok());
    let mut above = getppid();
    loop {
        if above.as_raw() <= 0 || session.is_none() || getsid(Some(above)).ok() != session {
            return true;
        }
        if getpgid(Some(above)).ok() != Some(group) {
            return false;
        }
        let Some(next) = parent_of(above) else { return false };
        above = next;
    }
}
