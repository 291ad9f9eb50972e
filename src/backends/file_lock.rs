//! The system's lock on a file, so that one process at a time reads and changes something.
//!
//! It ends with the process that holds it. The file stays.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;

use crate::atomic_file::create_private_dir;
use crate::error::{Error, Result, io};

/// How long another process may take; it takes a moment, unless it was stopped meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// The right to read and change, until it is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

/// Waits until no other process has this file.
pub(super) fn lock_file(path: &Path) -> Result<FileLock> {
    create_private_dir(path.parent().unwrap_or(Path::new(".")))?;
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
    let file = file.map_err(io("open", path))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if begun.elapsed() < LONGEST_WAIT => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::unavailable("another infra does not finish with what it writes here")
                    .at(path.display())
                    .hint("try again when it has ended"));
            }
            // A file system without locks cannot be waited for.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(FileLock { _file: file }),
        }
    }
}
