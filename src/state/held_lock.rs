//! A lock as a store keeps it: the client's own words, byte for byte, and who took it.
//!
//! The words are kept as text, not as fields, so that whoever is refused reads exactly
//! what the holder wrote, fields unknown to this program included.

use serde::{Deserialize, Serialize};

use super::moved::Moved;
use crate::error::{Error, Result};
use crate::model::{Holder, LockInfo, MOVED, StateLock, in_plain_sight, turns_text};

/// A held lock; its id is never empty.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HeldLock {
    id: String,
    info: String,
    holder: Option<Holder>,
    /// The user of a server who took it; unknown in what other servers and runs have stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

impl HeldLock {
    /// Reads a client's LockInfo; one without a usable id is refused.
    pub fn from_client(body: &[u8], holder: Option<Holder>) -> Result<Self> {
        let id = id_of(body)?;
        let info = String::from_utf8(body.to_vec()).map_err(|error| unreadable().because(error))?;
        Ok(Self { id, info, holder, owner: None })
    }

    /// Makes the lock of a state that was moved: an ordinary one, so that every client stops at it and is
    /// told the new place.
    pub(super) fn of_move(moved: &Moved, id: &str, who: &str) -> Self {
        let info = LockInfo {
            id: id.to_owned(),
            operation: MOVED.to_owned(),
            info: moved.to.clone(),
            who: who.to_owned(),
            created: moved.at.to_string(),
            ..LockInfo::default()
        };
        let info = serde_json::json!(info).to_string();
        Self { id: id.to_owned(), info, holder: None, owner: None }
    }

    /// Returns where the state went, if this is the lock of one that was moved.
    pub fn moved_to(&self) -> Option<String> {
        self.to_state_lock().info.moved_to().map(str::to_owned)
    }

    /// Returns the lock as one that a user of a server took.
    #[must_use]
    pub fn owned_by(mut self, user: Option<String>) -> Self {
        self.owner = user;
        self
    }

    /// Returns the user of a server who took it, where that is known.
    pub(super) fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Returns whether it is known that somebody other than this user took it.
    pub(super) fn is_of_another(&self, user: Option<&str>) -> bool {
        matches!((&self.owner, user), (Some(owner), Some(user)) if owner != user)
    }

    /// Returns the id the client chose.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the LockInfo exactly as the client sent it.
    pub fn info(&self) -> &str {
        &self.info
    }

    /// Returns the process that took it, where this program took it.
    pub const fn holder(&self) -> Option<&Holder> {
        self.holder.as_ref()
    }

    /// Returns the lock in the program's own words; a field of an odd type is left empty, and what a
    /// terminal would obey is made visible.
    pub fn to_state_lock(&self) -> StateLock {
        let id = || LockInfo { id: self.id.clone(), ..LockInfo::default() };
        let info: LockInfo = serde_json::from_str(&self.info).unwrap_or_else(|_| id());
        let info = LockInfo {
            id: info.id,
            operation: in_plain_sight(&info.operation),
            info: in_plain_sight(&info.info),
            who: in_plain_sight(&info.who),
            version: in_plain_sight(&info.version),
            created: in_plain_sight(&info.created),
            path: in_plain_sight(&info.path),
        };
        StateLock { info, holder: self.holder.clone() }
    }
}

/// Returns the lock id in a client's LockInfo.
pub(super) fn id_of(body: &[u8]) -> Result<String> {
    if body.is_empty() {
        return Err(Error::invalid("the body is empty: a LockInfo with an `ID` is expected"));
    }
    let info: serde_json::Value =
        serde_json::from_slice(body).map_err(|error| unreadable().because(error))?;
    match info.get("ID").and_then(serde_json::Value::as_str) {
        Some(id) if id.chars().any(|character| character.is_control() || turns_text(character)) => {
            Err(Error::invalid("the `ID` of the LockInfo contains a control character"))
        }
        Some(id) if !id.trim().is_empty() => Ok(id.to_owned()),
        _ => Err(Error::invalid("the LockInfo has no usable `ID`: a text that is not empty is expected")),
    }
}

fn unreadable() -> Error {
    Error::invalid("the body is not a LockInfo in JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_words_are_kept_byte_for_byte() {
        let body = br#"{ "ID": "1", "Zeta": 1.10, "Who":"dana@ci" }"#;

        let lock = HeldLock::from_client(body, None).expect("a usable LockInfo");

        assert_eq!(lock.info().as_bytes(), body);
        assert_eq!(lock.to_state_lock().info.who, "dana@ci");
    }

    #[test]
    fn a_lock_without_a_usable_id_is_refused() {
        for body in ["", "{}", "[]", "null", r#"{"ID":""}"#, r#"{"ID":" "}"#, r#"{"ID":7}"#, "{", "\u{0}"] {
            assert!(HeldLock::from_client(body.as_bytes(), None).is_err(), "{body}");
        }
        assert!(HeldLock::from_client(b"{\"ID\":\"\xff\"}", None).is_err());
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_passed_on() {
        let body = br#"{"ID":"1","Who":"\u001b[2JEVIL\u202e","Operation":"a\u0007"}"#;

        let lock = HeldLock::from_client(body, None).expect("a usable LockInfo").to_state_lock();

        assert_eq!(lock.info.who, "\u{fffd}[2JEVIL\u{fffd}");
        assert_eq!(lock.info.operation, "a\u{fffd}");
        assert!(HeldLock::from_client(br#"{"ID":"1\u001b[2J"}"#, None).is_err());
    }

    #[test]
    fn a_field_of_an_odd_type_does_not_hide_the_id() {
        let lock = HeldLock::from_client(br#"{"ID":"1","Who":7}"#, None).expect("a usable LockInfo");

        assert_eq!(lock.to_state_lock().info.id, "1");
    }
}
