//! One `configure` at a time in a project: what it compares with must still be there when it
//! writes.
//!
//! The system's lock on a file in `.infra`, which ends with the process that holds it; the
//! file stays. Begin at [`TreeLock::to_write`].

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use nix::fcntl::OFlag;

use crate::error::{Error, Result, io};
use crate::process::Interrupts;

const FILE: &str = "configure.lock";

/// How often it is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// The right to compare and to write, until it is dropped.
#[derive(Debug)]
pub struct TreeLock {
    _file: Option<File>,
}

impl TreeLock {
    /// Waits until no other process compares or writes; `waits` is called once if one does.
    ///
    /// The folder must be there. If it cannot be written, the later write reports that.
    pub async fn to_write(infra_dir: &Path, interrupts: &Interrupts, waits: impl FnOnce()) -> Result<Self> {
        let file = open(infra_dir, OpenOptions::new().read(true).append(true).create(true))?;
        Self::wait_for(file, File::try_lock, interrupts, waits).await
    }

    /// Waits until no other process writes; creates no file.
    pub async fn to_look(infra_dir: &Path, interrupts: &Interrupts, waits: impl FnOnce()) -> Result<Self> {
        let file = open(infra_dir, OpenOptions::new().read(true))?;
        Self::wait_for(file, File::try_lock_shared, interrupts, waits).await
    }

    async fn wait_for(
        file: Option<File>,
        lock: fn(&File) -> std::result::Result<(), TryLockError>,
        interrupts: &Interrupts,
        waits: impl FnOnce(),
    ) -> Result<Self> {
        let (mut interrupts, mut waits) = (interrupts.clone(), Some(waits));
        while let Some(Err(TryLockError::WouldBlock)) = file.as_ref().map(lock) {
            if let Some(waits) = waits.take() {
                waits();
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = interrupts.beyond(0) => {
                    return Err(Error::interrupted("stopped before anything was written"));
                }
            }
        }
        // A file system without locks cannot be waited for.
        Ok(Self { _file: file })
    }
}

/// Opens the file; returns `None` if it does not exist and must not or cannot be created.
fn open(infra_dir: &Path, options: &mut OpenOptions) -> Result<Option<File>> {
    let path = infra_dir.join(FILE);
    match options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits()).open(&path) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem => Ok(None),
            _ => Err(io("open", &path)(error)),
        },
    }
}
