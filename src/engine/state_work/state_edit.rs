//! States by hand: pulled, pushed, shown and edited, whatever the backend.
//!
//! A push keeps serial, lineage and bytes where it can go around tofu, under the same lock
//! and the same rules; else tofu does it. Before anything is overwritten in a backend that
//! keeps no versions, a copy is put aside.

use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

use super::state_copy::{WithoutCopy, put_aside};
use crate::backends::{StateFacts, Storing};
use crate::engine::calls::successful;
use crate::engine::session::Session;
use crate::engine::stack::prepared;
use crate::engine::state_content::{Sealing, passphrase_of, pull_state, with_serial};
use crate::error::{Error, Result};
use crate::model::{Safe, Stack, StackId};
use crate::tofu;
use crate::tofu::call;
use crate::tofu::call::PushMode;

/// What became of a push.
#[derive(Debug)]
pub struct Pushed {
    /// Where the state before was put aside, if that was needed.
    pub aside: Option<PathBuf>,
    /// What is stored now, as tofu reads it; its serial is the one that was given wherever that is possible.
    pub stored: Option<StateFacts>,
}

/// Stores a state, byte for byte where the backend can be written without tofu.
pub async fn push_state(session: &Session, id: &StackId, state: &[u8], mode: PushMode) -> Result<Pushed> {
    let stack = session.stack(id)?;
    let without = match mode {
        PushMode::Careful => WithoutCopy::Refuse,
        PushMode::Forced => WithoutCopy::Accept,
    };
    let home = session.home_of(stack)?;
    let aside = put_aside(session, stack, &home, without).await?;
    // Older formats, and a state without a lineage, are tofu's to judge and to complete.
    let sealed = match home.is_writable() && is_complete(state) {
        true => Sealing::of(session, stack)?.sealed(state)?,
        false => None,
    };
    match sealed {
        Some(bytes) => {
            let storing = Storing { operation: "state push", bytes: &bytes, at: session.clock.now() };
            let passphrase = passphrase_of(session, id);
            home.store(storing, |there| check_import(there, state, mode, passphrase)).await?;
        }
        None => {
            push(session, stack, state, mode).await?;
            if !same_lineage(state, &pull_state(session, id).await?) {
                push(session, stack, state, PushMode::Forced).await?;
            }
        }
    }
    Ok(Pushed { aside, stored: StateFacts::of(&pull_state(session, id).await?) })
}

/// Returns whether a state is one that tofu would store as it is.
fn is_complete(state: &[u8]) -> bool {
    let parsed: Value = serde_json::from_slice(state).unwrap_or_default();
    parsed["version"] == 4 && parsed["resources"].is_array() && StateFacts::of(state).is_some()
}

/// Refuses what tofu refuses: another lineage, a lower serial, other content under the same serial.
fn check_import(there: Option<&[u8]>, new: &[u8], mode: PushMode, passphrase: Option<&str>) -> Result<()> {
    let (Some(there), PushMode::Careful) = (there, mode) else { return Ok(()) };
    let there = tofu::open_state(there, passphrase)?;
    let (Some(old), Some(given)) = (StateFacts::of(&there), StateFacts::of(new)) else { return Ok(()) };
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    if old.lineage != given.lineage {
        return Err(Error::failed("the state has another lineage than the one that is stored"));
    }
    if old.serial > given.serial {
        return Err(Error::failed("the state is older than the one that is stored"));
    }
    if old.serial == given.serial && parsed(&there) != parsed(new) {
        return Err(Error::failed("the state has the serial of the one that is stored, but is another"));
    }
    Ok(())
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
fn same_lineage(one: &[u8], other: &[u8]) -> bool {
    let lineage = |bytes: &[u8]| StateFacts::of(bytes).map(|facts| facts.lineage);
    // One that was never stored has none, and gets its first.
    lineage(one).is_none_or(|one| Some(one) == lineage(other))
}

/// Runs one of tofu's own edits of a state and returns what it says.
pub async fn edit_state(
    session: &Session,
    id: &StackId,
    edit: call::StateEdit<'_>,
    without: WithoutCopy,
) -> Result<Safe> {
    let stack = session.stack(id)?;
    let base = prepared(session, stack).await?;
    if edit.changes() {
        put_aside(session, stack, &session.home_of(stack)?, without).await?;
    }
    let done = successful(session, id, call::state_edit(base, edit)).await;
    if done.is_err() {
        session.release_left_lock(stack).await?;
    }
    Ok(done?.stdout.safe(&session.mask()))
}

/// Returns an old state as the successor of the current one: the same text, a higher serial.
pub fn as_successor(old: &[u8], current: Option<&StateFacts>) -> Result<Zeroizing<Vec<u8>>> {
    let facts = StateFacts::read(old).ok_or_else(|| Error::invalid("the old version is no state in JSON"))?;
    let serial = current.map_or(facts.serial, |current| current.serial.max(facts.serial) + 1);
    with_serial(old, serial).map(Zeroizing::new)
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
    fn a_careful_push_takes_only_a_successor_of_the_same_lineage() {
        let state = |serial: u64, lineage: &str, more: &str| {
            format!(r#"{{"version":4,"serial":{serial},"lineage":"{lineage}","resources":[{more}]}}"#)
        };
        let refused = |old: &str, new: &str, mode| {
            check_import(Some(old.as_bytes()), new.as_bytes(), mode, None)
                .err()
                .map(|error| error.to_string())
        };
        let (old, careful) = (state(3, "l", ""), PushMode::Careful);

        assert_eq!(refused(&old, &state(4, "l", "1"), careful), None);
        assert_eq!(refused(&old, &old, careful), None);
        assert!(refused(&old, &state(4, "m", ""), careful).is_some_and(|text| text.contains("lineage")));
        assert!(refused(&old, &state(2, "l", ""), careful).is_some_and(|text| text.contains("older")));
        assert!(refused(&old, &state(3, "l", "1"), careful).is_some_and(|text| text.contains("another")));
        assert_eq!(refused(&old, &state(2, "m", ""), PushMode::Forced), None);
    }
}
