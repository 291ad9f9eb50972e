//! Whether the process behind a lock still lives, as far as that can be known here.

use crate::model::StateLock;
use crate::process;

/// Returns whether the holder is alive; `None` if it is on another host or in another container, or is
/// not known.
pub fn holder_is_alive(lock: &StateLock) -> Option<bool> {
    process::holder_is_alive(lock.holder.as_ref()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Holder, LockInfo};

    fn lock_of(host: &str, pid: u32) -> StateLock {
        let holder = Holder { host: host.to_owned(), pid, ..process::this_holder(None) };
        StateLock { info: LockInfo::default(), holder: Some(holder) }
    }

    #[test]
    fn a_holder_on_this_host_is_alive_or_dead() {
        let here = process::hostname();

        assert_eq!(holder_is_alive(&lock_of(&here, process::this_process())), Some(true));
        assert_eq!(holder_is_alive(&lock_of(&here, u32::MAX)), Some(false));
    }

    #[test]
    fn nothing_is_said_about_a_holder_elsewhere_or_unknown() {
        let unknown = StateLock { info: LockInfo::default(), holder: None };

        assert_eq!(holder_is_alive(&lock_of("another.host.invalid", process::this_process())), None);
        assert_eq!(holder_is_alive(&unknown), None);
    }
}
