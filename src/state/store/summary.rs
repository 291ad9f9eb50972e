//! All states of a store at a glance: sizes, versions, locks.

use jiff::Timestamp;
use serde::Serialize;

use super::log_entry::Header;
use crate::error::Result;
use crate::model::{Holder, LockInfo};
use crate::state::{HeldLock, Moved, StateName};

/// What there is to see of a state without reading it.
#[derive(Clone, Debug)]
pub struct StateSummary {
    /// Its name.
    pub name: StateName,
    /// Its size in bytes; `None` if it is deleted, or was never written.
    pub size: Option<u64>,
    /// When it was last written.
    pub written: Option<Timestamp>,
    /// How many versions are kept.
    pub versions: usize,
    /// Who holds it; nobody where it was moved.
    pub lock: Option<HeldLock>,
    /// Where it went.
    pub moved: Option<Moved>,
    /// The name of the project that wrote it last, where it has one.
    pub project: Option<String>,
    /// Whether a project gave it up.
    pub left_behind: bool,
    /// Why nothing of this can be told, where it is damaged.
    pub error: Option<String>,
}

/// A summary as JSON has it.
#[derive(Serialize)]
pub(in crate::state) struct SummaryJson {
    name: String,
    size: Option<u64>,
    written: Option<Timestamp>,
    versions: usize,
    lock: Option<LockInfo>,
    holder: Option<Holder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<Moved>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left_behind: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl StateSummary {
    /// Makes the summary of a state.
    pub(super) fn of(name: StateName, header: Result<Header>) -> Self {
        let (header, error) = match header {
            Ok(header) => (header, None),
            Err(error) => (Header::default(), Some(error.to_string())),
        };
        let current = header.versions.iter().find(|version| Some(version.number) == header.state);
        Self {
            name,
            size: current.map(|version| version.size),
            written: current.map(|version| version.at),
            versions: header.versions.len(),
            lock: header.brought_back().lock,
            moved: header.moved,
            project: header.project,
            left_behind: header.left_behind,
            error,
        }
    }

    /// Returns the form for JSON.
    pub(in crate::state) fn to_json(&self) -> SummaryJson {
        let lock = self.lock.as_ref().map(HeldLock::to_state_lock);
        SummaryJson {
            name: self.name.to_string(),
            size: self.size,
            written: self.written,
            versions: self.versions,
            holder: lock.as_ref().and_then(|lock| lock.holder.clone()),
            lock: lock.map(|lock| lock.info),
            moved: self.moved.clone(),
            project: self.project.clone(),
            left_behind: self.left_behind,
            error: self.error.clone(),
        }
    }
}
