//! Where the work on files is done: at once while the disk is quick, on another thread otherwise.
//!
//! A change to another thread and back takes longer than a small file in a folder whose contents
//! are in memory. But whoever works at once keeps everybody else on this thread waiting, so that is
//! done only where it will not take long: with little to write, in a file system of this machine,
//! after work of the same kind was quick several times in a row. One piece that was slow, because it
//! had to wait for the disk, ends it until others were quick again. Begin at [`FileWork::run`].

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio::task::{JoinError, spawn_blocking};

/// What takes no longer may be done at once: a few changes to another thread.
const QUICK: Duration = Duration::from_micros(250);

/// So many in a row must have been quick.
const IN_A_ROW: u32 = 8;

/// No more bytes than these are read or written at once.
const LITTLE: usize = 256 * 1024;

/// Work on files of one kind in one folder.
#[derive(Clone, Debug)]
pub struct FileWork {
    /// How many in a row were quick; `None` where that tells nothing about the next.
    quick: Option<Arc<AtomicU32>>,
}

impl FileWork {
    /// Makes the work in a folder, of which nothing is known yet.
    pub fn below(folder: &Path) -> Self {
        Self { quick: is_of_this_machine(folder).then(Arc::default) }
    }

    /// Does what concerns so many bytes, here or on another thread; begun, it is done to its end.
    pub async fn run<T, W>(&self, bytes: usize, work: W) -> Result<T, JoinError>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        if bytes <= LITTLE && self.is_quick() {
            return Ok(self.timed(work));
        }
        let timing = self.clone();
        spawn_blocking(move || timing.timed(work)).await
    }

    fn is_quick(&self) -> bool {
        self.quick.as_ref().is_some_and(|quick| quick.load(Ordering::Relaxed) >= IN_A_ROW)
    }

    fn timed<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some(quick) = &self.quick else { return work() };
        let (waits, begun) = (waits_so_far(), Instant::now());
        let done = work();
        // Where others use the processor, any work may take long; that says nothing about the disk.
        match begun.elapsed() <= QUICK || (waits.is_some() && waits == waits_so_far()) {
            // Two that count at once lose one of them, which only means one more change of threads.
            true => quick.store(quick.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed),
            false => quick.store(0, Ordering::Relaxed),
        }
        done
    }
}

/// Returns how often this thread has waited for something, such as a disk.
#[cfg(target_os = "linux")]
fn waits_so_far() -> Option<i64> {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD).ok().map(|usage| usage.voluntary_context_switches())
}

#[cfg(not(target_os = "linux"))]
fn waits_so_far() -> Option<i64> {
    None
}

/// Returns whether files lie in this machine: those of another one, or of a program that plays a file
/// system, may be quick for long and then not answer at all.
#[cfg(target_os = "linux")]
fn is_of_this_machine(folder: &Path) -> bool {
    use nix::sys::statfs::{
        BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC,
        XFS_SUPER_MAGIC, statfs,
    };
    let local = [
        EXT4_SUPER_MAGIC,
        BTRFS_SUPER_MAGIC,
        XFS_SUPER_MAGIC,
        F2FS_SUPER_MAGIC,
        TMPFS_MAGIC,
        OVERLAYFS_SUPER_MAGIC,
    ];
    statfs(folder).is_ok_and(|facts| local.contains(&facts.filesystem_type()))
}

#[cfg(not(target_os = "linux"))]
fn is_of_this_machine(_folder: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn quick_work_is_done_at_once_after_a_while_and_no_more_after_a_slow_piece() {
        let work = FileWork { quick: Some(Arc::default()) };
        let here = thread::current().id();
        let place = async |bytes| work.run(bytes, || thread::current().id()).await.expect("no panic");

        for _ in 0..IN_A_ROW {
            assert_ne!(place(0).await, here);
        }
        assert_eq!(place(LITTLE).await, here);
        assert_ne!(place(LITTLE + 1).await, here);

        work.run(0, || thread::sleep(2 * QUICK)).await.expect("no panic");
        assert_ne!(place(0).await, here);
    }

    #[tokio::test]
    async fn where_files_may_be_elsewhere_nothing_is_done_at_once() {
        let work = FileWork { quick: None };
        let here = thread::current().id();

        for _ in 0..=IN_A_ROW {
            assert_ne!(work.run(0, || thread::current().id()).await.expect("no panic"), here);
        }
    }
}
