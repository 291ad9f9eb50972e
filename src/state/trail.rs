//! What a request leaves behind for the audit log and the counters.

use std::net::IpAddr;

use jiff::Timestamp;

use super::audit::AuditEntry;

/// What is known about a request so far.
#[derive(Debug)]
pub(super) struct Trail {
    /// What it does, in one of few words.
    pub action: &'static str,
    pub user: Option<String>,
    pub state: Option<String>,
    pub lock_id: Option<String>,
    pub bytes: Option<usize>,
    pub version: Option<u64>,
}

impl Trail {
    /// Begins the trail of a request.
    pub const fn new() -> Self {
        Self { action: "other", user: None, state: None, lock_id: None, bytes: None, version: None }
    }

    /// Returns whether the audit log has a line for it: not for who looks whether the server lives.
    pub fn is_worth_keeping(&self) -> bool {
        self.user.is_some()
    }

    /// Returns the line.
    pub fn entry(&self, time: Timestamp, peer: IpAddr, status: u16) -> AuditEntry<'_> {
        AuditEntry {
            time,
            peer,
            user: self.user.as_deref(),
            action: self.action,
            state: self.state.as_deref(),
            lock_id: self.lock_id.as_deref(),
            status,
            bytes: self.bytes,
            version: self.version,
        }
    }
}
