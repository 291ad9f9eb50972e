//! One check of `doctor`, and how it came out.

use crate::error::Error;
use crate::report::Tone;

/// How a check came out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    Pass,
    Warn,
    Fail,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    pub const fn tone(self) -> Tone {
        match self {
            Self::Pass => Tone::Good,
            Self::Warn => Tone::Warn,
            Self::Fail => Tone::Bad,
        }
    }
}

/// One check.
#[derive(Debug)]
pub struct Finding {
    pub check: &'static str,
    pub status: Status,
    pub message: String,
    pub fix: Option<String>,
}

impl Finding {
    pub fn pass(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, status: Status::Pass, message: message.into(), fix: None }
    }

    pub fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Status::Warn, message: message.into(), fix: Some(fix.into()) }
    }

    pub fn fail(check: &'static str, error: &Error) -> Self {
        let message =
            std::iter::once(error.message().to_owned()).chain(error.body()).collect::<Vec<_>>().join("; ");
        Self { check, status: Status::Fail, message, fix: error.hints().first().cloned() }
    }
}
