//! Listens to a running tofu: its lines become events, its messages are collected.
//!
//! What tofu writes goes through the session's mask on its way. Where more secrets become known
//! only at the end (old values in a plan), everything is held back until then: [`listen`].

use std::cell::RefCell;
use std::process::ExitStatus;

use super::lock_wait::LockWait;
use super::stop::Stop;
use super::working_notes::{forget_ended_children, notes_for};
use crate::engine::session::Session;
use crate::error::Result;
use crate::events::RunEvent;
use crate::model::{Diagnostic, ResourceChange, Safe, Severity, StackId, Step};
use crate::process;
use crate::process::{Invocation, Raw, Stream};
use crate::tofu;
use crate::tofu::call::Narration;
use crate::tofu::{Message, call};

/// What was learnt from a tofu that has ended.
#[derive(Debug)]
pub struct Watched {
    pub status: ExitStatus,
    pub output: TofuOutput,
}

/// What a tofu said.
#[derive(Debug, Default)]
pub struct TofuOutput {
    /// Its text for people.
    pub text: Vec<Safe>,
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
    pub stderr: Vec<Safe>,
}

impl TofuOutput {
    /// Keeps the last lines of stderr.
    fn keep_stderr(&mut self, line: Safe) {
        const KEPT: usize = 20;
        if self.stderr.len() == KEPT {
            self.stderr.remove(0);
        }
        self.stderr.push(line);
    }

    /// Returns the problems that make the command fail.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// When what tofu says is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhenToShow {
    /// As it comes.
    AtOnce,
    /// When tofu has ended and all that must be masked is known.
    AtTheEnd,
}

/// Runs a tofu call of a stack to its end, unless a stop was asked for before it began.
pub async fn watch(
    session: &Session,
    stack: &StackId,
    step: Step,
    call: Invocation,
) -> Result<Watched, Stop> {
    Ok(listen(session, (stack, step), call, WhenToShow::AtOnce).await?.tell())
}

/// Runs a tofu call of a stack to its end; what was held back is still to be told.
pub async fn listen<'a>(
    session: &'a Session,
    (stack, step): (&'a StackId, Step),
    call: Invocation,
    telling: WhenToShow,
) -> Result<EndedCall<'a>, Stop> {
    if session.interrupts.any() {
        return Err(Stop::Interrupted);
    }
    let takes_locks = matches!(step, Step::Plan | Step::Apply);
    let call = match takes_locks.then(|| notes_for(&session.project, stack)) {
        Some(Ok(notes)) => call.noted_in(notes, session.clock.now()),
        // Without a note things are as they would be without this program.
        Some(Err(_)) | None => call,
    };
    session.progress.begin(stack, step);
    let (output, held) = (RefCell::default(), RefCell::default());
    let reader = OutputReader {
        session,
        stack,
        step,
        telling,
        output,
        held,
        lock: LockWait::of_tofu_started(session.clock.now()),
    };
    let status = tokio::select! {
        status = process::run(call, &session.interrupts, |stream, line| reader.hear(stream, line)) => status?,
        never = reader.lock.tell_holders(session, stack) => match never {},
    };
    if takes_locks && (status.success() || says_changes(step, status)) {
        forget_ended_children(&session.project, stack);
    }
    Ok(EndedCall { status, reader })
}

/// Returns whether a plan ended with the exit code of one that changes something.
pub fn says_changes(step: Step, status: ExitStatus) -> bool {
    step == Step::Plan && status.code() == Some(call::CHANGES)
}

/// A tofu that has ended, before what was held back of its words is told.
pub struct EndedCall<'a> {
    pub status: ExitStatus,
    reader: OutputReader<'a>,
}

impl EndedCall<'_> {
    /// Leaves untold what is held back of tofu's text for people; its messages say what went wrong.
    pub fn forget_text(&self) {
        self.reader.held.borrow_mut().retain(|(stream, line)| self.reader.is_message(*stream, line));
    }

    /// Tells what was held back, masked by all that is known by now.
    pub fn tell(self) -> Watched {
        for (stream, line) in self.reader.held.take() {
            self.reader.take(stream, &line);
        }
        Watched { status: self.status, output: self.reader.output.into_inner() }
    }
}

struct OutputReader<'a> {
    session: &'a Session,
    stack: &'a StackId,
    step: Step,
    telling: WhenToShow,
    output: RefCell<TofuOutput>,
    held: RefCell<Vec<(Stream, Raw)>>,
    lock: LockWait,
}

impl OutputReader<'_> {
    fn hear(&self, stream: Stream, line: Raw) {
        // How far it is says nothing about values.
        let is_message = self.is_message(stream, &line);
        let progress = is_message.then(|| tofu::progress_of(&line)).flatten();
        let goes_on = is_message && progress != Some(Message::LockAwaited) && !tofu::is_problem(&line);
        if goes_on && self.lock.end() {
            let (stack, step) = (self.stack.clone(), self.step);
            self.session.events.emit(RunEvent::LockTaken { stack, step });
        }
        let progress = progress.is_some();
        if self.telling == WhenToShow::AtOnce || progress {
            self.take(stream, &line);
        } else {
            self.held.borrow_mut().push((stream, line));
        }
    }

    fn take(&self, stream: Stream, line: &Raw) {
        if self.is_message(stream, line) {
            return self.message(line);
        }
        let text = line.safe(&self.session.mask());
        self.line(text.clone());
        match stream {
            Stream::Stderr => self.output.borrow_mut().keep_stderr(text),
            // Only a plan is shown again; what an apply prints may be endless.
            Stream::Stdout if self.step == Step::Plan => self.output.borrow_mut().text.push(text),
            Stream::Stdout | Stream::Tap => {}
        }
    }

    fn is_message(&self, stream: Stream, line: &Raw) -> bool {
        match (stream, self.session.narration()) {
            (Stream::Tap, _) => true,
            (Stream::Stdout, Narration::MessagesOnly) => line.is_object(),
            (Stream::Stdout | Stream::Stderr, _) => false,
        }
    }

    fn line(&self, text: Safe) {
        let (stack, step) = (self.stack.clone(), self.step);
        self.session.events.emit(RunEvent::Line { stack, step, text });
    }

    fn message(&self, line: &Raw) {
        let mut output = self.output.borrow_mut();
        let (stack, mask) = (self.stack.clone(), self.session.mask());
        match tofu::read_message(line, &mask) {
            // tofu tells of a variable that it misses as often as it asks for it.
            Some(Message::Diagnostic(diagnostic)) if output.diagnostics.contains(&diagnostic) => {}
            Some(Message::Diagnostic(diagnostic)) => {
                output.diagnostics.push(diagnostic.clone());
                self.session.events.emit(RunEvent::Diagnostic { stack, diagnostic });
            }
            Some(Message::Planned(change)) => output.changes.push(change),
            Some(Message::Drifted(change)) => output.drift.push(change),
            Some(Message::LockAwaited) => self.lock.begin(),
            Some(Message::Tests(counts)) => self.session.progress.count_tests(&stack, counts),
            Some(Message::Outputs(changed)) => output.outputs_changed = changed,
            Some(Message::Refreshed) => {
                output.refreshed += 1;
                self.session.events.emit(RunEvent::Refreshed { stack, resources: output.refreshed });
            }
            Some(Message::Resource { address, text, done }) => {
                if let Some(action) = done {
                    self.session.progress.count_done(&stack, &address, action);
                }
                self.session.events.emit(RunEvent::Resource { stack, address, message: text });
            }
            // With text on stdout as well, the message would only repeat it.
            Some(Message::Other(text))
                if self.session.narration() == Narration::MessagesOnly && !text.is_empty() =>
            {
                self.line(text);
            }
            Some(Message::Other(_) | Message::Refreshing) => {}
            None => self.line(line.safe(&mask)),
        }
    }
}
