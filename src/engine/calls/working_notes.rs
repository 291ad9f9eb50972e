//! Whether the one who took the lock of a stack still works on it.
//!
//! The lock knows the `infra` that took it, if it was ours to serve, and else only a name and
//! a host. But a killed `infra` leaves a tofu that still ends its work, and a lock in somebody
//! else's backend has no process at all. So every tofu that may hold a lock is noted below
//! `.infra/working` while it runs. Begin at [`life_of_holder`].

use std::path::PathBuf;

use jiff::SignedDuration;

use crate::atomic_file::create_private_dir;
use crate::error::Result;
use crate::model::{Project, StackId, StateLock};
use crate::process;
use crate::process::ChildNote;
use crate::state::holder_is_alive;

/// How soon after its start a tofu has taken its lock, unless it waits for one.
const SOON: SignedDuration = SignedDuration::from_secs(60);

/// What is known about the holder of a lock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HolderLife {
    /// It works.
    Alive,
    /// The `infra` is gone, its tofu with this process id is not.
    TofuAlive(u32),
    /// It is gone.
    Gone,
    /// It is on another host, or nothing is known about it.
    Unknown,
}

impl HolderLife {
    /// Returns whether somebody works under the lock; `None` if that is not known.
    pub const fn is_alive(self) -> Option<bool> {
        match self {
            Self::Alive | Self::TofuAlive(_) => Some(true),
            Self::Gone => Some(false),
            Self::Unknown => None,
        }
    }
}

/// Returns the file for notes about a tofu process of a stack, in a folder that is there.
pub(super) fn notes_for(project: &Project, stack: &StackId) -> Result<PathBuf> {
    create_private_dir(&project.infra_dir().join("working"))?;
    Ok(notes_of(project, stack))
}

fn notes_of(project: &Project, stack: &StackId) -> PathBuf {
    project.infra_dir().join("working").join(stack.file_name())
}

/// Forgets tofu processes that ended without us: somebody got through since, so their lock is gone.
pub(super) fn forget_ended_children(project: &Project, stack: &StackId) {
    ChildNote::forget_ended_children(&notes_of(project, stack));
}

/// Returns whether the holder of a stack's lock is still at work.
pub fn life_of_holder(project: &Project, stack: &StackId, lock: &StateLock) -> HolderLife {
    let notes = ChildNote::read_all(&notes_of(project, stack));
    match (holder_is_alive(lock), &lock.holder) {
        (Some(true), _) => HolderLife::Alive,
        (life, Some(holder)) => {
            let own = notes.iter().find(|note| note.parent == holder.pid && is_at_work(note));
            let otherwise = if life.is_some() { HolderLife::Gone } else { HolderLife::Unknown };
            own.map_or(otherwise, |note| HolderLife::TofuAlive(note.pid))
        }
        (None, None) if is_from_here(lock) => life_by_notes(lock, &notes),
        _ => HolderLife::Unknown,
    }
}

/// Returns whether a lock was taken on this host.
pub(super) fn is_from_here(lock: &StateLock) -> bool {
    lock.info.who.rsplit_once('@').is_some_and(|(_, host)| host == process::hostname())
}

/// A tofu of ours that began shortly before the lock was taken is the one that took it.
fn life_by_notes(lock: &StateLock, notes: &[ChildNote]) -> HolderLife {
    let Some(created) = lock.info.created_at() else { return HolderLife::Unknown };
    let took_it = |note: &&ChildNote| {
        let after = created.duration_since(note.since);
        !after.is_negative() && after < SOON
    };
    match notes.iter().filter(took_it).max_by_key(|note| rank(note)) {
        Some(note) => match note.is_alive() {
            Some(true) => HolderLife::TofuAlive(note.pid),
            Some(false) => HolderLife::Gone,
            None => HolderLife::Unknown,
        },
        // One that waited long for the lock may have it now.
        None => notes
            .iter()
            .find(|note| is_at_work(note))
            .map_or(HolderLife::Unknown, |note| HolderLife::TofuAlive(note.pid)),
    }
}

/// Whoever lives counts before one of whom nothing is known, and that one before the dead.
fn rank(note: &ChildNote) -> u8 {
    match note.is_alive() {
        Some(true) => 2,
        None => 1,
        Some(false) => 0,
    }
}

fn is_at_work(note: &ChildNote) -> bool {
    note.is_alive() == Some(true)
}
