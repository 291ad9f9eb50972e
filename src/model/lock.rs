//! Who holds the lock of a state, as OpenTofu tells it and as this program knows it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Safe;

/// The operation in the lock of a state that was moved.
pub const MOVED: &str = "moved";

/// The lock as OpenTofu's http backend sends and expects it; the field names are its own.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default, rename_all = "PascalCase")]
pub struct LockInfo {
    /// The lock's id, chosen by the client.
    #[serde(rename = "ID")]
    pub id: String,
    /// What is being done, such as `OperationTypeApply`.
    pub operation: String,
    /// Free text.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// The version of tofu.
    pub version: String,
    /// When it was taken, RFC 3339.
    pub created: String,
    /// The state's path, where the client knows one.
    pub path: String,
}

impl LockInfo {
    /// Returns the operation in lower case without OpenTofu's prefix: `apply`.
    pub fn operation_word(&self) -> String {
        self.operation.strip_prefix("OperationType").unwrap_or(&self.operation).to_lowercase()
    }

    /// Returns where the state went, if this is no lock but the mark of a moved state.
    pub fn moved_to(&self) -> Option<&str> {
        (self.operation == MOVED).then_some(self.info.as_str())
    }

    /// Returns when it was taken, where that can be read.
    pub fn created_at(&self) -> Option<Timestamp> {
        self.created.parse().ok()
    }
}

/// Who is waited for, as it is told while tofu waits for a lock.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct LockHolder {
    /// `user@host`.
    pub who: Safe,
    /// What is being done, such as `apply`.
    pub operation: Safe,
    /// Since when, where that is known.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
}

/// The process that took a lock through the embedded server, so that a dead one can be recognised.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Holder {
    /// The host's name.
    pub host: String,
    /// The process id of `infra` on that host.
    pub pid: u32,
    /// When that process started, in the system's own units; tells a reused id apart.
    pub started: Option<u64>,
    /// The run the lock belongs to.
    pub run_id: Option<String>,
    /// Where the process id means something; unknown in what earlier versions have stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<ProcessPlace>>,
}

/// Where a process id means something: two containers may have the same host name, and each of them a
/// process of the same number.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ProcessPlace {
    /// The system's start; it is another after each.
    pub boot: String,
    /// The namespace of process ids.
    pub namespace: String,
    /// The machine, where that is the whole machine and not a container on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// A held lock.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StateLock {
    /// What the client said.
    pub info: LockInfo,
    /// Which process took it, where this program took it.
    pub holder: Option<Holder>,
}
