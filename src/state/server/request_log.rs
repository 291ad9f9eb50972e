//! What is known about a request while it is answered, for the audit log and the counters.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::audit_log::AuditEntry;

/// The notes about one request, shared by all who answer it.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestLog(Arc<Mutex<RequestNotes>>);

/// What is known about a request so far.
#[derive(Debug)]
pub(super) struct RequestNotes {
    /// What it does, in one of few words.
    pub action: &'static str,
    pub user: Option<String>,
    pub state: Option<String>,
    pub lock_id: Option<String>,
    pub bytes: Option<usize>,
    pub version: Option<u64>,
}

impl Default for RequestNotes {
    fn default() -> Self {
        Self { action: "other", user: None, state: None, lock_id: None, bytes: None, version: None }
    }
}

impl RequestLog {
    /// Returns the notes, to be read or added to.
    pub fn notes(&self) -> MutexGuard<'_, RequestNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestNotes {
    /// Returns whether the audit log has a line for it: not for a look whether the server lives.
    pub const fn is_audited(&self) -> bool {
        self.user.is_some()
    }

    /// Returns the line of the audit log.
    pub fn audit_entry(&self, time: Timestamp, peer: IpAddr, status: u16) -> AuditEntry<'_> {
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
