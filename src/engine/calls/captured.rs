//! A call of tofu whose output is captured: whether it succeeded, and what it said if not.

use super::failure::{ending, kind_of};
use super::left_behind::migration_command;
use super::stop::Stop;
use crate::engine::session::Session;
use crate::engine::variables::encryption_origins;
use crate::error::{Error, Kind, Result};
use crate::model::{Diagnostic, StackError, StackId};
use crate::process;
use crate::process::{Captured, Invocation, Raw};
use crate::tofu;
use crate::tofu::{HintContext, cause_of, hints_for, tells_of_a_held_lock};

/// Runs a call to its end; a failure of tofu is an error.
pub async fn successful(session: &Session, id: &StackId, call: Invocation) -> Result<Captured> {
    let captured = process::capture(call, &session.interrupts).await?;
    check(session, id, &captured)?;
    Ok(captured)
}

pub fn check(session: &Session, id: &StackId, captured: &Captured) -> Result<()> {
    if captured.status.success() {
        return Ok(());
    }
    if session.interrupts.any() {
        return Err(Error::interrupted("stopped"));
    }
    let told = FramedError::of(session, &captured.stderr);
    let error = match told.kind() {
        Kind::Locked => Error::locked(format!("state of `{id}` is locked")),
        kind => Error::new(kind, format!("tofu failed in `{id}`")),
    };
    Err(told.hints(session, id).into_iter().fold(error.detail(last_words(session, captured)), Error::hint))
}

/// Returns what a tofu that failed wrote, or how it ended if that was nothing.
pub fn last_words(session: &Session, captured: &Captured) -> String {
    let said = captured.stderr.safe(&session.mask());
    if said.trim().is_empty() { ending(captured.status) } else { once_each(said.trim()) }
}

/// Returns a text without what was there before, frame by frame: tofu tells some errors several times.
fn once_each(said: &str) -> String {
    let mut frames: Vec<String> = vec![String::new()];
    for line in said.lines() {
        if ["╷", "Error: ", "Warning: "].iter().any(|start| line.starts_with(start)) {
            frames.push(String::new());
        }
        if let Some(frame) = frames.last_mut() {
            *frame += &format!("{line}\n");
        }
    }
    let mut told: Vec<&str> = Vec::new();
    for frame in frames.iter().map(|frame| frame.trim()).filter(|frame| !frame.is_empty()) {
        if !told.contains(&frame) {
            told.push(frame);
        }
    }
    told.join("\n\n")
}

/// Returns what to do about what tofu wrote in its frame for people.
pub fn hints_about(session: &Session, id: &StackId, said: &Raw) -> Vec<String> {
    FramedError::of(session, said).hints(session, id)
}

/// What tofu wrote in its frame for people.
struct FramedError(Diagnostic);

impl FramedError {
    fn of(session: &Session, said: &Raw) -> Self {
        Self(tofu::framed_diagnostic(said, &session.mask()))
    }

    fn kind(&self) -> Kind {
        let locked = tells_of_a_held_lock(&self.0).then_some(Kind::Locked);
        cause_of(&self.0).or(locked).unwrap_or(Kind::Failed)
    }

    fn hints(&self, session: &Session, id: &StackId) -> Vec<String> {
        let Ok(stack) = session.stack(id) else { return Vec::new() };
        let migration_command = migration_command(&session.project, &session.env, stack);
        let own = encryption_origins(session, stack);
        let own_encryption = own.as_deref();
        hints_for(
            &self.0,
            HintContext {
                stack: id,
                path: &stack.path,
                migration_command: &migration_command,
                own_encryption,
            },
        )
    }
}

/// Turns the early end of a stack's life into an error of the command.
pub fn stopped(id: &StackId, stop: Stop) -> Error {
    match stop {
        Stop::Interrupted => Error::interrupted("stopped"),
        Stop::Deferred(reason) => Error::failed(format!("`{id}` is deferred {reason}")),
        Stop::Failed(error) => {
            let failed = Error::new(kind_of(&error), format!("{id}: {}", error.summary)).detail(error.detail);
            let failed = match error.code.as_deref() {
                Some(StackError::WORKSPACE_UNKNOWN) => failed.code(StackError::WORKSPACE_UNKNOWN),
                _ => failed,
            };
            error.hint.iter().flat_map(|hint| hint.lines()).fold(failed, Error::hint)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_tofu_tells_several_times_is_told_once() {
        let (one, two) = ("╷\n│ Error: no value\n╵", "╷\n│ Error: another\n╵");

        assert_eq!(once_each(&format!("{one}\n{two}\n{one}")), format!("{one}\n\n{two}"));
        assert_eq!(once_each("Error: a\n\n  on x\n\nError: a\n\n  on x\n"), "Error: a\n\n  on x");
        assert_eq!(once_each("plain\nplain"), "plain\nplain");
    }
}
