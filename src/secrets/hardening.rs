//! Keeps the memory of this process out of core dumps and other processes' reach.
//!
//! Core files are off, for children too, since they inherit the limit. On Linux the process is
//! also not dumpable: nobody but root may attach to it or read its memory. It can still read
//! its own `/proc/PID/stat` and `/proc/self/fd`; children become dumpable again when they start.

use nix::sys::resource::{Resource, setrlimit};

/// Hardens this process; returns a warning for each measure that the system refused.
pub fn harden_process() -> Vec<String> {
    let core = setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(|error| ("core dumps stay on", error));
    let dumpable = forbid_dumping().map_err(|error| ("other processes may read this one's memory", error));
    let refused = [core, dumpable].into_iter().filter_map(Result::err);
    refused.map(|(what, error)| format!("{what}: the system refused to change it ({error})")).collect()
}

#[cfg(target_os = "linux")]
fn forbid_dumping() -> nix::Result<()> {
    nix::sys::prctl::set_dumpable(false)
}

/// Other systems have no such switch, or none that is worth its price.
#[cfg(not(target_os = "linux"))]
const fn forbid_dumping() -> nix::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use nix::sys::resource::getrlimit;

    use super::*;

    #[test]
    fn a_hardened_process_leaves_no_core_and_can_still_read_about_itself() {
        let warnings = harden_process();

        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(getrlimit(Resource::RLIMIT_CORE), Ok((0, 0)));
        assert_eq!(nix::sys::prctl::get_dumpable(), Ok(false));
        assert!(crate::process::started_at(crate::process::this_process()).is_some());
        assert!(std::fs::read_dir("/proc/self/fd").is_ok_and(|entries| entries.count() > 0));
    }

    #[test]
    fn hardening_twice_is_no_failure() {
        assert_eq!(harden_process().len() + harden_process().len(), 0);
    }
}
