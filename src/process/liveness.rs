//! Whether a process that was seen before still lives.
//!
//! A process id alone lies: ids are reused, and two containers with the same host name have
//! each a process of the same number. So a holder says where its id means something: since
//! which start of the system, and in which namespace. Only there it is looked for; elsewhere
//! nothing is known about it. The start time of the process, where the system tells it, makes
//! the answer certain.

use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::model::{Fingerprint, Holder, ProcessPlace};

/// The namespace of process ids that a machine starts with; its number is fixed in Linux
/// (`PROC_PID_INIT_INO` in `include/linux/proc_ns.h`).
const WHOLE_MACHINE: &str = "pid:[4026531836]";

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
    holder_here(this_process(), run_id)
}

/// Returns a process that is seen from here as a holder.
pub fn holder_here(pid: u32, run_id: Option<String>) -> Holder {
    Holder { host: hostname(), pid, started: started_at(pid), run_id, place: this_place().map(Box::new) }
}

/// Returns where process ids mean what they mean here; nothing on a system without namespaces.
pub(super) fn this_place() -> Option<ProcessPlace> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?.to_str()?.to_owned();
    let machine = (namespace == WHOLE_MACHINE).then(|| machine(Path::new("/etc/machine-id"))).flatten();
    Some(ProcessPlace { boot, namespace, machine })
}

/// Returns what tells this machine from others; its id itself is not meant to be shown.
fn machine(file: &Path) -> Option<String> {
    let id = std::fs::read_to_string(file).ok().filter(|id| id.trim().len() >= 32)?;
    let digest = Fingerprint::of([b"the machine of a holder".as_slice(), id.trim().as_bytes()]);
    digest.as_str().get(..16).map(str::to_owned)
}

/// Returns whether a holder is alive; `None` if its process id has no meaning on this machine.
pub fn holder_is_alive(holder: &Holder) -> Option<bool> {
    let is_here = holder.host == hostname();
    is_here.then(|| is_alive_in(holder.place.as_deref(), holder.pid, holder.started)).flatten()
}

/// Returns whether the holder may still live; one of whom nothing is known here counts as living.
pub fn may_live(holder: &Holder) -> bool {
    holder_is_alive(holder) != Some(false)
}

/// Returns whether a process of a place is alive, as far as that can be told from here.
pub(super) fn is_alive_in(place: Option<&ProcessPlace>, pid: u32, started: Option<u64>) -> Option<bool> {
    judge(place, this_place().as_ref(), is_alive(pid, started))
}

/// Decides by the places of then and now; `found` says whether a process with that id is here.
fn judge(then: Option<&ProcessPlace>, now: Option<&ProcessPlace>, found: bool) -> Option<bool> {
    match (then, now) {
        (None, None) => Some(found),
        // An earlier version did not say where; the one that is found is it, another may be elsewhere.
        (None, Some(_)) => found.then_some(true),
        (Some(_), None) => None,
        (Some(then), Some(now)) if (&then.boot, &then.namespace) == (&now.boot, &now.namespace) => {
            Some(found)
        }
        // The machine was started anew. A container elsewhere with this host name was not.
        (Some(then), Some(now)) => {
            let same_machine = then.machine.is_some() && then.machine == now.machine;
            (same_machine && then.boot != now.boot).then_some(false)
        }
    }
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

/// Returns the parent of a process, where that can be read.
pub(super) fn parent_of(pid: Pid) -> Option<Pid> {
    let parent = field(u32::try_from(pid.as_raw()).ok()?, 1)?;
    parent.parse().ok().map(Pid::from_raw)
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

    fn place(boot: &str, namespace: &str, machine: Option<&str>) -> ProcessPlace {
        let owned = str::to_owned;
        ProcessPlace { boot: owned(boot), namespace: owned(namespace), machine: machine.map(owned) }
    }

    #[test]
    fn only_the_same_start_and_namespace_tell_the_dead_from_the_living() {
        let here = place("one", "pid:[1]", None);
        let decided = |then: &ProcessPlace, found| judge(Some(then), Some(&here), found);

        assert_eq!((decided(&here, true), decided(&here, false)), (Some(true), Some(false)));
        for elsewhere in [place("one", "pid:[2]", None), place("two", "pid:[1]", None)] {
            assert_eq!((decided(&elsewhere, true), decided(&elsewhere, false)), (None, None));
        }
    }

    #[test]
    fn a_machine_that_was_started_anew_has_no_process_from_before() {
        let here = place("two", WHOLE_MACHINE, Some("m"));
        let decided = |then: &ProcessPlace| judge(Some(then), Some(&here), true);

        assert_eq!(decided(&place("one", WHOLE_MACHINE, Some("m"))), Some(false));
        assert_eq!(decided(&place("one", WHOLE_MACHINE, Some("another"))), None);
        assert_eq!(decided(&place("one", "pid:[7]", None)), None);
    }

    #[test]
    fn what_an_earlier_version_recorded_is_alive_or_unknown() {
        let here = place("one", "pid:[1]", None);

        assert_eq!((judge(None, Some(&here), true), judge(None, Some(&here), false)), (Some(true), None));
        assert_eq!((judge(None, None, true), judge(None, None, false)), (Some(true), Some(false)));
        assert_eq!(judge(Some(&here), None, true), None);
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
