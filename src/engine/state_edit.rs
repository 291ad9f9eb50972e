//! States by hand: pulled, pushed, shown and edited through tofu, whatever the backend.
//!
//! tofu takes the lock, refuses a lower serial or another lineage, and encrypts. Before
//! anything is overwritten in a backend that keeps no versions, a copy is put aside.

use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

use super::inspect::{prepared, successful};
use super::session::{Session, StateSource};
use crate::error::{Error, Result};
use crate::model::{Stack, StackId};
use crate::tofu::call::{self, PushMode};
use crate::tofu::envelope;

/// What identifies the content of a state.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct StateFacts {
    /// Grows with every change.
    pub serial: u64,
    /// The same for all versions of one state.
    pub lineage: String,
    /// How many resources it has.
    pub resources: usize,
}

impl StateFacts {
    /// Reads them from a state; nothing if there is none, which tofu writes as one without a lineage.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        Self::read(bytes).filter(|facts| !facts.lineage.is_empty())
    }

    /// Reads them from a state that may never have been stored: it has no lineage yet.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let state: Value = serde_json::from_slice(bytes).ok()?;
        let lineage = state.get("lineage")?.as_str()?.to_owned();
        let resources = state.get("resources").and_then(Value::as_array).map_or(0, Vec::len);
        let serial = state.get("serial").and_then(Value::as_u64)?;
        Some(Self { serial, lineage, resources })
    }
}

/// Returns the state of a stack, decrypted; empty if there is none.
pub async fn pull_state(session: &Session, id: &StackId) -> Result<Zeroizing<Vec<u8>>> {
    let base = prepared(session, session.stack(id)?).await?;
    let captured = successful(session, id, call::state_pull(base)).await?;
    Ok(Zeroizing::new(captured.stdout))
}

/// Stores a state; returns where the one before was put aside, if that was needed.
pub async fn push_state(
    session: &Session,
    id: &StackId,
    state: &[u8],
    mode: PushMode,
) -> Result<Option<PathBuf>> {
    let stack = session.stack(id)?;
    let aside = put_aside(session, stack).await?;
    push(session, stack, state, mode).await?;
    if !same_lineage(state, &pull_state(session, id).await?) {
        push(session, stack, state, PushMode::Forced).await?;
    }
    Ok(aside)
}

async fn push(session: &Session, stack: &Stack, state: &[u8], mode: PushMode) -> Result<()> {
    let base = prepared(session, stack).await?;
    let pushed = successful(session, &stack.id, call::state_push_with(base, state.to_vec(), mode)).await;
    if pushed.is_err() {
        session.release_left_lock(stack).await?;
    }
    pushed.map(|_| ())
}

/// Returns whether two states have one lineage.
///
/// The first state that tofu pushes to an empty place gets a new one; a second push keeps it.
pub(super) fn same_lineage(one: &[u8], other: &[u8]) -> bool {
    let lineage = |bytes: &[u8]| StateFacts::of(bytes).map(|facts| facts.lineage);
    // One that was never stored has none, and gets its first.
    lineage(one).is_none_or(|one| Some(one) == lineage(other))
}

/// Runs one of tofu's own edits of a state and returns what it says.
pub async fn edit_state(session: &Session, id: &StackId, edit: call::StateEdit<'_>) -> Result<String> {
    let stack = session.stack(id)?;
    if edit.changes() {
        put_aside(session, stack).await?;
    }
    let base = prepared(session, stack).await?;
    let done = successful(session, id, call::state_edit(base, edit)).await;
    if done.is_err() {
        session.release_left_lock(stack).await?;
    }
    Ok(session.redacted(&String::from_utf8_lossy(&done?.stdout)))
}

/// Returns the passphrase that opens the state of a stack.
pub(super) fn passphrase_of<'a>(session: &'a Session, id: &StackId) -> Option<&'a str> {
    Some(session.secrets_of(id)?.state_key.as_ref()?.passphrase())
}

/// Opens a state that was not read through tofu.
pub fn open_state(session: &Session, id: &StackId, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    envelope::open(bytes, passphrase_of(session, id))
}

/// Copies the state of a backend without versions into `.infra/backups`.
///
/// An encrypted one is not: the copy would be in the clear.
async fn put_aside(session: &Session, stack: &Stack) -> Result<Option<PathBuf>> {
    let keeps_versions = match session.state_source(stack)? {
        StateSource::Store(_) => true,
        StateSource::Remote(remote) => remote.versions().await.is_ok(),
        StateSource::Foreign(_) => false,
    };
    if keeps_versions || passphrase_of(session, &stack.id).is_some() {
        return Ok(None);
    }
    let state = pull_state(session, &stack.id).await?;
    let Some(facts) = StateFacts::of(&state) else { return Ok(None) };
    let time = session.clock.now().strftime("%Y%m%dT%H%M%SZ");
    let name = format!("{time}-serial-{}.tfstate", facts.serial);
    let path = session.project.infra_dir().join("backups").join(stack.id.state_name()).join(name);
    super::store::hide_from_git(&session.project.infra_dir())?;
    crate::atomic_file::write(&path, &state)?;
    Ok(Some(path))
}

/// Returns an old state as the successor of the current one: the same content, a higher serial.
pub fn as_successor(old: &[u8], current: Option<&StateFacts>) -> Result<Zeroizing<Vec<u8>>> {
    let mut state: Value = serde_json::from_slice(old)
        .map_err(|error| Error::invalid("the old version is no state in JSON").because(error))?;
    let own = state.get("serial").and_then(Value::as_u64).unwrap_or(0);
    let serial = current.map_or(own, |current| current.serial.max(own) + 1);
    let Some(map) = state.as_object_mut() else { return Err(Error::invalid("the old version is no state")) };
    map.insert("serial".to_owned(), serial.into());
    let bytes = serde_json::to_vec_pretty(&state);
    bytes.map(Zeroizing::new).map_err(|error| Error::bug("a state has no JSON form").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &[u8] = br#"{"version":4,"serial":3,"lineage":"l","resources":[{"a":1.10}]}"#;

    #[test]
    fn an_old_state_comes_back_under_a_higher_serial() {
        let current = StateFacts { serial: 9, lineage: "l".to_owned(), resources: 0 };

        let next = as_successor(OLD, Some(&current)).expect("a state");

        let facts = StateFacts::of(&next).expect("a state");
        assert_eq!((facts.serial, facts.lineage.as_str(), facts.resources), (10, "l", 1));
        assert_eq!(
            StateFacts::of(&as_successor(OLD, None).expect("a state")).map(|facts| facts.serial),
            Some(3)
        );
        assert!(as_successor(b"[]", None).is_err());
    }

    #[test]
    fn what_is_no_state_has_no_facts() {
        assert_eq!(StateFacts::of(b""), None);
        assert_eq!(StateFacts::of(br#"{"version":4,"serial":0,"lineage":""}"#), None);
    }
}
