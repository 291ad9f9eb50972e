//! Whether a process that was seen before still lives.
//!
//! A process id alone lies: ids are reused. The start time, where the system tells it,
//! makes the answer certain.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

/// Returns the host's name, or `unknown`.
pub fn hostname() -> String {
    nix::unistd::gethostname()
        .ok()
        .and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// Returns this process's id.
pub fn this_process() -> u32 {
    std::process::id()
}

/// Returns when a process started, in clock ticks since the system's start, where that can be read.
pub fn started_at(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

/// Returns whether the process with this id, started then, is still there.
pub fn is_alive(pid: u32, started: Option<u64>) -> bool {
    let Ok(raw) = i32::try_from(pid) else { return false };
    let exists = !matches!(kill(Pid::from_raw(raw), None), Err(Errno::ESRCH));
    let same = match (started, started_at(pid)) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    exists && same
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_process_id_is_not_taken_for_the_old_process() {
        let pid = this_process();
        let started = started_at(pid);

        assert!(is_alive(pid, started));
        assert!(!is_alive(pid, started.map(|ticks| ticks + 1)) || started.is_none());
        assert!(!is_alive(u32::MAX, None));
    }
}
