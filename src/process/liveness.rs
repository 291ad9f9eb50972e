//! Whether a process that was seen before still lives.
//!
//! A process id alone lies: ids are reused. The start time, where the system tells it,
//! makes the answer certain.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::model::Holder;

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

/// Returns the path of this very program; of one that was replaced meanwhile, where the new one lies.
pub fn this_program() -> Option<std::path::PathBuf> {
    let path = std::env::current_exe().ok()?;
    let text = path.to_str().and_then(|text| text.strip_suffix(" (deleted)").map(Into::into));
    Some(text.unwrap_or(path))
}

/// Returns this process as the holder of a lock or the doer of a run.
pub fn this_holder(run_id: Option<String>) -> Holder {
    let pid = this_process();
    Holder { host: hostname(), pid, started: started_at(pid), run_id }
}

/// Returns when a process started, in clock ticks since the system's start, where that can be read.
pub fn started_at(pid: u32) -> Option<u64> {
    field(pid, 19)?.parse().ok()
}

/// Returns a word of what the system tells about a process, counted from its state.
fn field(pid: u32, number: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(number).map(str::to_owned)
}

/// Returns whether a process has ended and only waits for its parent to take note.
fn has_ended(pid: u32) -> bool {
    field(pid, 0).is_some_and(|state| state == "Z" || state == "X")
}

/// Returns whether the process with this id, started then, is still there.
pub fn is_alive(pid: u32, started: Option<u64>) -> bool {
    let Ok(raw) = i32::try_from(pid) else { return false };
    let exists = !matches!(kill(Pid::from_raw(raw), None), Err(Errno::ESRCH));
    let same = match (started, started_at(pid)) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    exists && same && !has_ended(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a child of the test's own")]
    fn a_child_that_nobody_waited_for_is_not_alive() {
        let mut child = std::process::Command::new("true").spawn().expect("a program");
        let (pid, started) = (child.id(), started_at(child.id()));

        while started.is_some() && field(pid, 0).as_deref() != Some("Z") {
            std::thread::yield_now();
        }

        assert_eq!(is_alive(pid, started), started.is_none());
        child.wait().expect("a child");
    }

    #[test]
    fn a_reused_process_id_is_not_taken_for_the_old_process() {
        let pid = this_process();
        let started = started_at(pid);

        assert!(is_alive(pid, started));
        assert!(!is_alive(pid, started.map(|ticks| ticks + 1)) || started.is_none());
        assert!(!is_alive(u32::MAX, None));
    }
}
