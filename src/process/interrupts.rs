//! Requests to stop: how often a person or the system asked.
//!
//! Ctrl-C, SIGTERM and a closed terminal all count as one request. The first asks
//! gently, the second hard. The count is shared, so that every child and every wait
//! hears it; nobody else handles signals, but for Ctrl-Z in `suspension`.

use nix::sys::signal::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::suspension;
use super::suspension::Groups;
use crate::error::{Error, Result};

/// How often this program was asked to stop; clones share the count.
#[derive(Clone, Debug)]
pub struct Interrupts {
    seen: watch::Receiver<Seen>,
    /// The children that are stopped and woken with this process.
    pub(super) groups: Groups,
}

/// The requests so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    count: u32,
    /// Whether the last one came from the terminal's own process group.
    keyboard: bool,
}

impl Interrupts {
    /// Begins to listen for signals; must run inside the runtime.
    pub fn listen() -> Result<Self> {
        let (sender, seen) = watch::channel(Seen::default());
        for (kind, keyboard) in
            [(SignalKind::interrupt(), true), (SignalKind::terminate(), false), (SignalKind::hangup(), false)]
        {
            let mut stream =
                signal(kind).map_err(|e| Error::unavailable("cannot listen for signals").because(e))?;
            let sender = sender.clone();
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    sender.send_modify(|seen| *seen = Seen { count: seen.count + 1, keyboard });
                }
            });
        }
        let groups = Groups::default();
        suspension::listen(groups.clone())?;
        Ok(Self { seen, groups })
    }

    /// Returns requests that never come, for what is too short to be stopped.
    pub fn none() -> Self {
        let (_, seen) = watch::channel(Seen::default());
        Self { seen, groups: Groups::default() }
    }

    /// Returns how often a stop was asked for.
    pub fn count(&self) -> u32 {
        self.seen.borrow().count
    }

    /// Lets the requests be counted that came while this program was busy and waited for nothing.
    pub async fn catch_up(&self) {
        // One turn hands the signals to those who listen, the next lets them count.
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }

    /// Returns whether a stop was asked for at all.
    pub fn any(&self) -> bool {
        self.count() > 0
    }

    /// Waits until more than `count` stops were asked for; returns the new count.
    pub async fn beyond(&mut self, count: u32) -> u32 {
        // Nothing of the channel is held while waiting, so that any task may wait.
        let seen = self.seen.wait_for(|seen| seen.count > count).await.map(|seen| seen.count);
        match seen {
            Ok(count) => count,
            // No task listens any more, so nothing can come.
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns whether the last request came as SIGINT, which a terminal sends to the whole group.
    pub(super) fn came_from_keyboard(&self) -> bool {
        self.seen.borrow().keyboard
    }
}

/// The signal that asks tofu to stop gently, and once more to stop at once.
pub(super) const STOP: Signal = Signal::SIGINT;
