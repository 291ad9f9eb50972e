//! One at a time in the folder of a stack: `init` writes the lock of provider versions into it,
//! and an apply that cannot save its state writes that, each under one name whatever the
//! workspace.
//!
//! Stacks of one process wait for each other by a lock in memory, processes by a lock on a file.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use nix::fcntl::OFlag;
use tokio::sync::OwnedMutexGuard;

use super::stop::Stop;
use crate::atomic_file::create_private_dir;
use crate::engine::session::Session;
use crate::error::{Result, io};
use crate::model::{Stack, StackId};

/// How often it is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// The right to write into the folder of a stack, until it is dropped.
#[derive(Debug)]
pub struct FolderTurn {
    _here: OwnedMutexGuard<()>,
    _file: Option<File>,
}

impl Session {
    /// Waits until nobody else prepares or applies in the folder of a stack.
    pub(in crate::engine) async fn turn_in_folder(&self, stack: &Stack) -> Result<FolderTurn, Stop> {
        let mut interrupts = self.interrupts.clone();
        let seen = interrupts.count();
        let waiting = async {
            let here = self.preparation_of(stack).lock_owned().await;
            // One state has one folder otherwise, and the lock of the state keeps others away.
            let file = match &stack.workspace {
                Some(_) => Some(self.lock_folder(stack).await?),
                None => None,
            };
            Ok(FolderTurn { _here: here, _file: file })
        };
        tokio::select! {
            turn = waiting => turn,
            _ = interrupts.beyond(seen) => Err(Stop::Interrupted),
        }
    }

    async fn lock_folder(&self, stack: &Stack) -> Result<File> {
        let path = self.turn_file(stack)?;
        let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
        let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(&path);
        let file = file.map_err(io("open", &path))?;
        let mut is_told = false;
        while let Err(TryLockError::WouldBlock) = file.try_lock() {
            if !is_told {
                let words = format!("waits for another infra that works in `{}`", stack.path.display());
                self.tell_once(Some(&stack.id), words, Vec::new());
                is_told = true;
            }
            tokio::time::sleep(PAUSE).await;
        }
        // A file system without locks cannot be waited for.
        Ok(file)
    }

    fn turn_file(&self, stack: &Stack) -> Result<PathBuf> {
        let folder = self.project.infra_dir().join("turns");
        create_private_dir(&folder)?;
        Ok(folder.join(StackId::new(stack.path.to_string_lossy()).file_name()))
    }
}
