//! Trying again, only after errors that the project lists as transient.
//!
//! `run: { retries: 2, transient_errors: ["TLS handshake timeout"] }` in `infra.yaml`.

use std::time::Duration;

use super::stop::Stop;
use crate::engine::session::Session;
use crate::events::RunEvent;
use crate::model::{StackError, StackId};

/// How long to wait before the first repetition; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Counts the repetitions of one stack.
#[derive(Debug)]
pub struct Retries<'a> {
    session: &'a Session,
    stack: &'a StackId,
    used: u32,
}

impl<'a> Retries<'a> {
    /// Begins to count.
    pub const fn of(session: &'a Session, stack: &'a StackId) -> Self {
        Self { session, stack, used: 0 }
    }

    /// Runs something until it succeeds, fails for good or was tried often enough.
    pub async fn run<T>(&mut self, attempt: impl AsyncFn() -> Result<T, Stop>) -> Result<T, Stop> {
        loop {
            match attempt().await {
                Err(Stop::Failed(error)) if self.allows(&error) => self.pause(&error).await,
                outcome => return outcome,
            }
        }
    }

    /// Returns whether it may be tried again after this error.
    pub fn allows(&self, error: &StackError) -> bool {
        let settings = &self.session.project.run;
        self.used < settings.retries
            && !self.session.interrupts.any()
            && is_transient(error, &settings.transient_errors)
    }

    /// Tells that it is tried again, and waits a little; a request to stop ends the wait.
    pub async fn pause(&mut self, error: &StackError) {
        self.used += 1;
        let of = self.session.project.run.retries;
        let message = format!("{}; trying again ({} of {of})", error.summary, self.used);
        let stack = Some(self.stack.clone());
        self.session.events.emit(RunEvent::Warning { stack, message, hints: Vec::new() });
        let mut interrupts = self.session.interrupts.clone();
        tokio::select! {
            () = tokio::time::sleep(FIRST_PAUSE * (1 << (self.used - 1).min(6))) => {}
            _ = interrupts.beyond(0) => {}
        }
    }
}

/// Adds to an error why its repetition was planned but not applied, and how to go on.
pub fn not_tried_again(error: StackError, stack: &StackId, why: &str) -> StackError {
    let detail = format!("{}\nnot applied again: {why}", error.detail);
    let hint = format!("see what is left: `infra plan {stack}`, then `infra apply {stack}`");
    let hint = error.hint.into_iter().chain([hint]).collect::<Vec<_>>().join("\n");
    StackError { detail, hint: Some(hint), ..error }
}

fn is_transient(error: &StackError, listed: &[String]) -> bool {
    listed
        .iter()
        .any(|text| !text.is_empty() && (error.summary.contains(text) || error.detail.contains(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_texts_mark_an_error_as_transient() {
        let detail = "Get \"https://x\": net/http: TLS handshake timeout".to_owned();
        let error = StackError { code: None, summary: "request failed".to_owned(), detail, hint: None };

        assert!(is_transient(&error, &["TLS handshake timeout".to_owned()]));
        assert!(!is_transient(&error, &["quota".to_owned(), String::new()]));
        assert!(!is_transient(&error, &[]));
    }
}
