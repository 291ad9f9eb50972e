//! All states of a store at a glance: sizes, versions, locks.

use jiff::Timestamp;
use serde::Serialize;

use super::entry::Header;
use super::{HeldLock, StateName};
use crate::model::{Holder, LockInfo};

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
    /// Who holds it.
    pub lock: Option<HeldLock>,
}

/// A summary as JSON has it.
#[derive(Serialize)]
pub(super) struct SummaryJson {
    name: String,
    size: Option<u64>,
    written: Option<Timestamp>,
    versions: usize,
    lock: Option<LockInfo>,
    holder: Option<Holder>,
}

impl StateSummary {
    /// Makes the summary of a state.
    pub(super) fn of(name: StateName, header: Header) -> Self {
        let current = header.versions.iter().find(|version| Some(version.number) == header.state);
        Self {
            name,
            size: current.map(|version| version.size),
            written: current.map(|version| version.at),
            versions: header.versions.len(),
            lock: header.lock,
        }
    }

    /// Returns the form for JSON.
    pub(super) fn to_json(&self) -> SummaryJson {
        let lock = self.lock.as_ref().map(HeldLock::to_state_lock);
        SummaryJson {
            name: self.name.to_string(),
            size: self.size,
            written: self.written,
            versions: self.versions,
            holder: lock.as_ref().and_then(|lock| lock.holder.clone()),
            lock: lock.map(|lock| lock.info),
        }
    }
}
