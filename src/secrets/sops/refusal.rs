//! The one kind of failure of this part: a refusal, exit code 77, that names the file.

use crate::error::{Error, Kind};

/// Makes a refusal.
pub(crate) fn refused(message: impl Into<String>) -> Error {
    Error::new(Kind::Refused, message)
}

/// Makes an error of a part the story of a whole file: what was tried on it, then the part's words.
pub(crate) fn about_file(doing: &str, name: &str, cause: &Error) -> Error {
    let error = refused(format!("cannot {doing} `{name}`")).detail(cause.message());
    let error = cause.body().into_iter().fold(error, Error::detail);
    cause.hints().iter().fold(error, Error::hint)
}
