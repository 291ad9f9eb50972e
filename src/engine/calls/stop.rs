//! The early end of a stack's life: a failure, a wait for another stack, or a request to stop.

use crate::error::{Error, Kind};
use crate::model::StackError;

/// Why the life of a stack ended early.
#[derive(Debug)]
pub enum Stop {
    /// Something is wrong.
    Failed(StackError),
    /// A stack it takes values from is not applied yet.
    Deferred(String),
    /// A stop was asked for.
    Interrupted,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(StackError {
            code: error.label().or_else(|| code_of(error.kind())).map(str::to_owned),
            summary: error.message().to_owned(),
            detail: error.body().join("\n"),
            hint: joined(error.hints().to_vec()),
        })
    }
}

/// Returns the code of a kind that makes the exit code of a run.
pub(super) const fn code_of(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Unavailable => Some(StackError::UNAVAILABLE),
        Kind::Refused => Some(StackError::REFUSED),
        _ => None,
    }
}

/// Returns the hints as the lines of one text.
pub(super) fn joined(hints: Vec<String>) -> Option<String> {
    (!hints.is_empty()).then(|| hints.join("\n"))
}
