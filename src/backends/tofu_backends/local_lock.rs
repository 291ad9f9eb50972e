//! The lock of tofu's own local state: a note beside the file, and the system's lock on it.
//!
//! The note outlives a tofu that was killed, the system's lock does not; so the note counts
//! only while somebody holds the file.

use std::fs::File;
use std::path::Path;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;

use crate::model::StateLock;
use crate::process;
use crate::state::HeldLock;

/// Returns who holds a local state file.
pub fn lock_of_file(state: &Path) -> Option<StateLock> {
    let pid = holder_of(state)?;
    let note = state.with_file_name(format!(".{}.lock.info", state.file_name()?.to_str()?));
    let lock = HeldLock::from_client(&std::fs::read(note).ok()?, None).ok()?.to_state_lock();
    Some(StateLock { holder: pid.map(|pid| process::holder_here(pid, None)), ..lock })
}

/// Returns the process that has locked a file, if one has; it has no id here if it is in another container.
fn holder_of(path: &Path) -> Option<Option<u32>> {
    let file = File::options().read(true).write(true).open(path).ok()?;
    let mut wanted = libc::flock {
        l_type: i16::try_from(libc::F_WRLCK).ok()?,
        l_whence: i16::try_from(libc::SEEK_SET).ok()?,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    };
    fcntl(&file, FcntlArg::F_GETLK(&mut wanted)).ok()?;
    let is_held = i32::from(wanted.l_type) != libc::F_UNLCK;
    is_held.then(|| u32::try_from(wanted.l_pid).ok().filter(|pid| *pid > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_without_the_systems_lock_is_of_a_dead_tofu() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("terraform.tfstate");
        std::fs::write(&state, "{}").expect("a file");
        std::fs::write(folder.path().join(".terraform.tfstate.lock.info"), r#"{"ID":"1"}"#).expect("a file");

        assert_eq!(lock_of_file(&state), None);
        assert_eq!(lock_of_file(&folder.path().join("missing")), None);
    }
}
