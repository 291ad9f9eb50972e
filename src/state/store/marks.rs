//! What is known about a state beside its bytes and its lock: that it was moved, that it was
//! left behind, and which project it belongs to.
//!
//! Each mark is one entry of the log, flushed, and decided like every other change: of a mark
//! and a write that race exactly one happens first, and a crash leaves the mark or nothing.
//! A moved state is held by an ordinary lock as well, so that an earlier version of this
//! program, which does not know marks, stops at it too. Begin at [`StateStore::mark`].

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::decisions::{Claim, Decision, Writing, refusal};
use super::log::Durability;
use super::log_entry::{Header, LogEntry};
use super::state_store::{StateStore, random_text};
use crate::error::{Error, Result};
use crate::model::{MOVED, Project, turns_text};
use crate::process;
use crate::state::{HeldLock, Moved, StateName};

/// The longest text in a mark, in bytes: every later entry of the log repeats it.
const LONGEST: usize = 2048;

/// Something to remember about a state.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Mark {
    /// It was moved: nobody works with it here any more. State and versions stay.
    Moved {
        /// The new place, as a person reads it.
        to: String,
    },
    /// It is here again.
    Lifted,
    /// A project gave it up: there is no current state any more, the versions stay.
    LeftBehind,
    /// It belongs to the project of this name.
    OfProject(String),
}

/// How things stand with a state.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct StateStatus {
    /// The number of the current version, where there is a state.
    pub current: Option<u64>,
    /// How many versions are kept.
    pub versions: usize,
    /// The name of the project that wrote it last, where it has one.
    pub project: Option<String>,
    /// Where it went.
    pub moved: Option<Moved>,
    /// Whether a project gave it up.
    pub left_behind: bool,
    /// Who holds it; of a moved state the lock that says so.
    pub lock: Option<HeldLock>,
}

impl StateStatus {
    /// Returns the project that has the state, if it is another than this one, as far as both have names.
    pub fn other_project(&self, project: &Project) -> Option<&str> {
        self.project.as_deref().filter(|name| project.is_named && *name != project.name)
    }
}

/// What the entry of a mark needs beside the mark itself.
struct Marker<'a> {
    claim: &'a Claim,
    id: String,
    now: Timestamp,
}

impl StateStore {
    /// Returns how things stand with a state; one that was never written has nothing of it.
    pub async fn status(&self, name: &StateName) -> Result<StateStatus> {
        let header = self.header(name).await?;
        let lock = header.moved_away().map(|(lock, _)| lock).or(header.lock);
        Ok(StateStatus {
            current: header.state,
            versions: header.versions.len(),
            project: header.project,
            moved: header.moved,
            left_behind: header.left_behind,
            lock,
        })
    }

    /// Marks a state under the rules of a write; only a moved state is lifted or left behind by anybody.
    pub async fn mark(&self, name: &StateName, claim: &Claim, mark: Mark) -> Result<Writing> {
        mark.check()?;
        let marker = Marker { claim, id: random_text()?, now: self.now() };
        self.change(name, |head| marker.decide(&head.header, &mark)).await
    }
}

impl Marker<'_> {
    fn decide(&self, header: &Header, mark: &Mark) -> Decision<Writing> {
        if let Some(refusal) = self.refusal(header, mark) {
            return Decision::Answer(refusal);
        }
        match self.next(header, mark) {
            // It says nothing new, or the answer to the first time was lost.
            next if next == *header => Decision::Answer(Writing::Accepted),
            next => Decision::append(LogEntry::marker(next), Durability::Flushed, Writing::Accepted),
        }
    }

    fn refusal(&self, header: &Header, mark: &Mark) -> Option<Writing> {
        let moved = header.moved.as_ref();
        match mark {
            Mark::Moved { to } if moved.is_some_and(|moved| moved.to == *to) => None,
            Mark::LeftBehind if moved.is_some() => None,
            Mark::Lifted => None,
            Mark::Moved { .. } | Mark::LeftBehind | Mark::OfProject(_) => refusal(header, self.claim),
        }
    }

    /// Returns how things stand with the mark.
    fn next(&self, header: &Header, mark: &Mark) -> Header {
        match mark {
            Mark::Moved { .. } if header.moved.is_some() => header.clone(),
            Mark::Moved { to } => self.moved(header, to),
            Mark::Lifted => header.brought_back(),
            Mark::LeftBehind => Header { state: None, left_behind: true, ..header.brought_back() },
            Mark::OfProject(name) => Header { project: Some(name.clone()), ..header.clone() },
        }
    }

    /// Returns the header of a state that goes away: its lock becomes the one that says where.
    fn moved(&self, header: &Header, to: &str) -> Header {
        let moved = Moved { to: to.to_owned(), at: self.now };
        let lock = HeldLock::of_move(&moved, &self.id, &self.who(header));
        Header { lock: Some(lock), released: None, moved: Some(moved), ..header.clone() }
    }

    /// Returns who marks: the holder of the lock in its own words, a user of the server, or this host.
    fn who(&self, header: &Header) -> String {
        let holder = header.lock.as_ref().map(|lock| lock.to_state_lock().info.who);
        let user = || self.claim.user.clone();
        let here = || format!("infra@{}", process::hostname());
        holder.filter(|who| !who.is_empty()).or_else(user).unwrap_or_else(here)
    }
}

impl Mark {
    /// What the lock of a moved state says is done.
    pub const MOVED: &str = MOVED;

    /// Refuses texts that are empty, very long, or would be obeyed by a terminal.
    pub(in crate::state) fn check(&self) -> Result<()> {
        let (what, text) = match self {
            Self::Moved { to } => ("the new place of a moved state", to),
            Self::OfProject(name) => ("the name of a project", name),
            Self::Lifted | Self::LeftBehind => return Ok(()),
        };
        let is_odd = |character: char| character.is_control() || turns_text(character);
        let flaw = match text {
            text if text.trim().is_empty() => "is empty",
            text if text.len() > LONGEST => "is longer than 2048 bytes",
            text if text.chars().any(is_odd) => "contains a control character",
            _ => return Ok(()),
        };
        Err(Error::invalid(format!("{what} {flaw}")))
    }
}
