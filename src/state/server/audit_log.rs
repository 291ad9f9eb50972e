//! The audit log: who did what to which state when, one JSON object a line.
//!
//! Never holds a password or a state. Where the lines go is decided by whoever starts the
//! server, who also says so when they cannot be written; the request is served all the same.

use std::fmt;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::Serialize;

/// Where audit lines go.
pub type AuditSink = Box<dyn Fn(&str) -> std::io::Result<()> + Send + Sync>;

/// The log of a server.
#[derive(Default)]
pub(super) struct AuditLog(Option<AuditSink>);

/// One line.
#[derive(Debug, Serialize)]
pub(super) struct AuditEntry<'a> {
    pub time: Timestamp,
    pub peer: IpAddr,
    pub user: Option<&'a str>,
    pub action: &'a str,
    pub state: Option<&'a str>,
    pub lock_id: Option<&'a str>,
    pub status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The old version that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
}

impl AuditLog {
    /// Makes a log of a sink.
    pub fn to(sink: AuditSink) -> Self {
        Self(Some(sink))
    }

    /// Writes a line.
    pub fn write(&self, entry: &AuditEntry<'_>) -> std::io::Result<()> {
        let Some(sink) = &self.0 else { return Ok(()) };
        sink(&serde_json::to_string(entry)?)
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuditLog").field(&self.0.is_some()).finish()
    }
}
