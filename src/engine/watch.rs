//! Listens to a running tofu: its lines become events, its messages are collected.

use std::cell::RefCell;
use std::process::ExitStatus;

use super::failure::Stop;
use super::session::Session;
use super::working::{forget_the_dead, notes_of};
use crate::error::Result;
use crate::events::RunEvent;
use crate::model::{Diagnostic, ResourceChange, Severity, StackId, Step};
use crate::process::{self, Invocation, Stream};
use crate::tofu::call::Narration;
use crate::tofu::messages::{self, Message};

/// What was learnt from a tofu that has ended.
#[derive(Debug)]
pub(super) struct Watched {
    pub status: ExitStatus,
    pub heard: Heard,
}

/// What a tofu said.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Its text for people.
    pub text: Vec<String>,
    /// Its problems.
    pub diagnostics: Vec<Diagnostic>,
    /// What it plans.
    pub changes: Vec<ResourceChange>,
    /// What changed outside.
    pub drift: Vec<ResourceChange>,
    /// How many outputs change.
    pub outputs_changed: usize,
    /// Of how many resources it asked how they are.
    pub refreshed: usize,
    /// What it wrote to stderr, for the case that it says nothing else.
    pub stderr: Vec<String>,
}

impl Heard {
    /// Keeps the last lines of stderr.
    fn keep_stderr(&mut self, line: &str) {
        const KEPT: usize = 20;
        if self.stderr.len() == KEPT {
            self.stderr.remove(0);
        }
        self.stderr.push(line.to_owned());
    }

    /// Returns the problems that make the command fail.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Runs a tofu call of a stack to its end, unless a stop was asked for before it began.
pub(super) async fn watch(
    session: &Session,
    stack: &StackId,
    step: Step,
    call: Invocation,
) -> Result<Watched, Stop> {
    if session.interrupts.any() {
        return Err(Stop::Interrupted);
    }
    let takes_locks = matches!(step, Step::Plan | Step::Apply);
    let call = match takes_locks {
        true => call.noted_in(notes_of(&session.project, stack), session.clock.now()),
        false => call,
    };
    session.begin_step(stack, step);
    let ear = Ear { session, stack, step, heard: RefCell::default() };
    let status = process::run(call, &session.interrupts, |stream, line| ear.hear(stream, line)).await?;
    if takes_locks && status.success() {
        forget_the_dead(&session.project, stack);
    }
    Ok(Watched { status, heard: ear.heard.into_inner() })
}

struct Ear<'a> {
    session: &'a Session,
    stack: &'a StackId,
    step: Step,
    heard: RefCell<Heard>,
}

impl Ear<'_> {
    /// Redaction comes first: what is parsed, kept, told and recorded never holds a secret.
    fn hear(&self, stream: Stream, line: &str) {
        let line = &self.session.redacted(line);
        match (stream, self.session.narration()) {
            (Stream::Tap, _) => self.message(line),
            (Stream::Stdout, Narration::MessagesOnly) if line.starts_with('{') => self.message(line),
            (Stream::Stdout, _) => {
                self.line(line);
                // Only a plan is shown again; what an apply prints may be endless.
                if self.step == Step::Plan {
                    self.heard.borrow_mut().text.push(line.to_owned());
                }
            }
            (Stream::Stderr, _) => {
                self.line(line);
                self.heard.borrow_mut().keep_stderr(line);
            }
        }
    }

    fn line(&self, text: &str) {
        let (stack, step) = (self.stack.clone(), self.step);
        self.session.events.emit(RunEvent::Line { stack, step, text: text.to_owned() });
    }

    fn message(&self, line: &str) {
        let mut heard = self.heard.borrow_mut();
        let stack = self.stack.clone();
        match messages::parse(line) {
            Some(Message::Diagnostic(diagnostic)) => {
                heard.diagnostics.push(diagnostic.clone());
                self.session.events.emit(RunEvent::Diagnostic { stack, diagnostic });
            }
            Some(Message::Planned(change)) => heard.changes.push(change),
            Some(Message::Drifted(change)) => heard.drift.push(change),
            Some(Message::Outputs(changed)) => heard.outputs_changed = changed,
            Some(Message::Refreshed) => {
                heard.refreshed += 1;
                self.session.events.emit(RunEvent::Refreshed { stack, resources: heard.refreshed });
            }
            Some(Message::Resource { address, text, done }) => {
                if let Some(action) = done {
                    self.session.count_done(&stack, &address, action);
                }
                self.session.events.emit(RunEvent::Resource { stack, address, message: text });
            }
            // With text on stdout as well, the message would only repeat it.
            Some(Message::Other(text))
                if self.session.narration() == Narration::MessagesOnly && !text.is_empty() =>
            {
                self.line(&text);
            }
            Some(Message::Other(_)) => {}
            None => self.line(line),
        }
    }
}
