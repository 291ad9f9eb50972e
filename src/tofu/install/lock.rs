//! One install of a version at a time, across processes.
//!
//! The lock is the system's, on a file that stays: a killed run frees it, and a file that
//! is never deleted cannot be locked twice under one name. Begin at [`acquire`].

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result, io};
use crate::process::Interrupts;

/// How often a lock that another process holds is tried; a blocking wait could not be interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// Holds the lock until it is dropped.
#[derive(Debug)]
pub(super) struct InstallLock {
    _file: File,
}

/// Takes the lock; calls `waiting` once if another process holds it.
pub(super) async fn acquire(path: &Path, interrupts: &Interrupts, waiting: impl Fn()) -> Result<InstallLock> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(io("create", folder))?;
    let open = File::options().create(true).truncate(false).write(true).open(path);
    let file = open.map_err(io("open", path))?;
    let before = interrupts.count();
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(InstallLock { _file: file }),
            Err(TryLockError::Error(error)) => return Err(io("lock", path)(error)),
            Err(TryLockError::WouldBlock) if !told => waiting(),
            Err(TryLockError::WouldBlock) => {}
        }
        told = true;
        if tokio::time::timeout(PAUSE, interrupts.clone().beyond(before)).await.is_ok() {
            return Err(Error::interrupted("stopped while another run installs OpenTofu"));
        }
    }
}
