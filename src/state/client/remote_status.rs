//! How things stand with a state on an `infra state serve`, and marks on it.
//!
//! A server of another kind has nothing at that address. It is asked before it is sent a
//! mark, so that one which takes anything anywhere never stores a mark as a state.

use jiff::Timestamp;
use reqwest::StatusCode;

use super::remote_copies::{is_unknown, parts_of};
use super::remote_state::{RemoteState, with_lock, with_query, with_sum};
use crate::error::{Error, Result};
use crate::model::in_plain_sight;
use crate::state::store::{Mark, StateStatus};
use crate::state::{HeldLock, Moved};

/// What became of a mark.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MarkOutcome {
    /// The server has it.
    Done,
    /// It is another kind of server, which knows no marks.
    NotOffered,
}

impl RemoteState {
    /// Returns how things stand with the state; `None` if the server is of another kind.
    pub async fn status(&self) -> Result<Option<StateStatus>> {
        let Some(address) = self.status_address() else { return Ok(None) };
        let answer = self.send(self.client.get(address)).await?;
        match answer.status() {
            StatusCode::OK => Ok(read_status(&self.bytes(answer).await?)),
            status if status.is_success() || is_unknown(status) => Ok(None),
            status => Err(self.refused(status)),
        }
    }

    /// Marks the state, under this lock.
    pub async fn mark(&self, lock: Option<&HeldLock>, mark: &Mark) -> Result<MarkOutcome> {
        mark.check()?;
        let Some(address) = self.status_address() else { return Ok(MarkOutcome::NotOffered) };
        if self.status().await?.is_none() {
            return Ok(MarkOutcome::NotOffered);
        }
        let address = lock.map_or_else(|| address.clone(), |lock| with_lock(&address, lock));
        let body =
            serde_json::to_vec(mark).map_err(|error| Error::bug("a mark has no JSON form").because(error))?;
        let answer = self.send(with_sum(self.client.post(address), body)).await?;
        match answer.status() {
            status if status.is_success() => Ok(MarkOutcome::Done),
            status if is_unknown(status) => Ok(MarkOutcome::NotOffered),
            StatusCode::LOCKED | StatusCode::CONFLICT => Err(self.not_marked().await),
            status => Err(self.refused(status)),
        }
    }

    /// Stores a version that keeps the time at which it was written elsewhere, as far as the server can.
    pub async fn write_version(&self, lock: Option<&HeldLock>, state: Vec<u8>, at: Timestamp) -> Result<()> {
        self.write_to(with_query(&self.address, &format!("at={at}")), lock, state).await
    }

    async fn not_marked(&self) -> Error {
        match self.lock_of().await.ok().flatten() {
            Some(lock) => self.held(Some(&lock)),
            None => Error::locked("the lock of the state was lost meanwhile").hint("`infra locks`"),
        }
    }

    fn status_address(&self) -> Option<String> {
        let (server, name) = parts_of(&self.address)?;
        Some(format!("{server}/status{name}"))
    }
}

/// Reads a status; what another machine says is shown on one line, and a terminal obeys none of it.
fn read_status(bytes: &[u8]) -> Option<StateStatus> {
    let plain = |text: String| in_plain_sight(&text).replace(['\n', '\r'], " ");
    let mut status: StateStatus = serde_json::from_slice(bytes).ok()?;
    status.project = status.project.map(plain);
    status.moved = status.moved.map(|moved| Moved { to: plain(moved.to), ..moved });
    Some(status)
}
