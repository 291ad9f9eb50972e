//! What happens in a run, as data: the engine emits, reports consume.
//!
//! Events and questions share one channel, so that a question is asked only after
//! everything before it was shown. What a child wrote is [`Safe`] here: nothing else fits
//! into an event. Nothing here formats or prints.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::model::{
    ChangeDetail, Clock, Diagnostic, LockHolder, PlanDifference, RemainingStacks, ResourceChange, RunCommand,
    RunReport, Safe, StackId, StackReport, Step,
};

/// Something that happened in a run.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run began.
    RunStarted {
        /// Names the record below `.infra/runs`.
        run_id: String,
        /// What is done.
        command: RunCommand,
        /// The project's name.
        project: String,
        /// The stacks in the order they are to run.
        stacks: Vec<StackId>,
        /// How many of them run at once.
        parallelism: usize,
        /// Whether a person is asked before anything is changed.
        asks: bool,
        /// The version of tofu.
        tofu: String,
    },
    /// Something a person should know, about the run or a stack.
    Warning {
        /// The stack, where it is about one.
        stack: Option<StackId>,
        /// What.
        message: String,
        /// What to do.
        hints: Vec<String>,
    },
    /// A stack entered a step.
    StepStarted {
        /// The stack.
        stack: StackId,
        /// The step.
        step: Step,
    },
    /// A line that tofu wrote for people.
    Line {
        /// The stack.
        stack: StackId,
        /// The step it belongs to.
        step: Step,
        /// The text, without its end.
        text: Safe,
    },
    /// A resource began, ended or failed.
    Resource {
        /// The stack.
        stack: StackId,
        /// The resource.
        address: Safe,
        /// What tofu says of it, such as `Creation complete after 1s`.
        message: Safe,
    },
    /// tofu asked how resources are; only for those who watch, and never recorded.
    #[serde(skip)]
    Refreshed {
        /// The stack.
        stack: StackId,
        /// Of how many it knows by now.
        resources: usize,
    },
    /// tofu waits for the lock of a state, which somebody else has.
    LockAwaited {
        /// The stack.
        stack: StackId,
        /// Who has it, where the backend tells.
        holder: Option<LockHolder>,
    },
    /// tofu has the lock that it waited for, and goes on with its step.
    LockTaken {
        /// The stack.
        stack: StackId,
        /// The step.
        step: Step,
    },
    /// tofu reported a problem.
    Diagnostic {
        /// The stack.
        stack: StackId,
        /// The problem.
        diagnostic: Diagnostic,
    },
    /// A stack was planned, or a saved plan was taken up.
    Planned {
        /// The stack.
        stack: StackId,
        /// What the plan does to resources.
        changes: Vec<ResourceChange>,
        /// How many outputs change.
        outputs_changed: usize,
        /// The plan as tofu writes it for people; empty for a saved one.
        text: Vec<Safe>,
        /// What changes in each resource, where that is shown; only for those who watch.
        #[serde(skip)]
        details: Vec<ChangeDetail>,
        /// When the plan was made, if it is a saved one.
        #[schemars(with = "Option<String>")]
        saved_at: Option<Timestamp>,
    },
    /// A plan that was made again is not what was shown.
    PlanDiffers {
        /// The stack.
        stack: StackId,
        /// What differs; `None` where the two could not be compared.
        differences: Vec<PlanDifference>,
        /// What to know about it, in a few words.
        note: String,
        /// Whether it is applied all the same, because a yes was given beforehand.
        applied: bool,
        /// Whether it is left as it is without a question.
        left: bool,
    },
    /// The state of a stack got the name that the stack has now.
    StateRenamed {
        /// The stack.
        stack: StackId,
        /// The id it had before.
        was: StackId,
    },
    /// Entries of `infra.lock` were changed.
    StatesNoted {
        /// The stacks.
        stacks: Vec<StackId>,
    },
    /// Somebody said no before anything was changed, so nothing was done.
    NothingDone,
    /// A stack is done.
    StackFinished {
        /// What became of it.
        report: StackReport,
    },
    /// A stop was asked for.
    Interrupted {
        /// How often by now.
        times: u32,
    },
    /// The run ended.
    RunFinished {
        /// What became of it.
        report: RunReport,
    },
}

impl RunEvent {
    /// Returns the stack that it belongs to.
    fn stack(&self) -> Option<&StackId> {
        match self {
            Self::StepStarted { stack, .. }
            | Self::Line { stack, .. }
            | Self::Resource { stack, .. }
            | Self::Refreshed { stack, .. }
            | Self::LockAwaited { stack, .. }
            | Self::LockTaken { stack, .. }
            | Self::Diagnostic { stack, .. }
            | Self::Planned { stack, .. }
            | Self::PlanDiffers { stack, .. }
            | Self::StateRenamed { stack, .. } => Some(stack),
            Self::Warning { stack, .. } => stack.as_ref(),
            Self::StackFinished { report } => Some(&report.id),
            Self::RunStarted { .. }
            | Self::StatesNoted { .. }
            | Self::NothingDone
            | Self::Interrupted { .. }
            | Self::RunFinished { .. } => None,
        }
    }

    /// Returns whether it is written down, and so has a number.
    const fn is_recorded(&self) -> bool {
        !matches!(self, Self::Refreshed { .. })
    }
}

/// An event with its time and its numbers, as it is written down.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct NumberedEvent {
    /// When it happened.
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// Its number in the run; the first is 1, and none is left out.
    pub seq: u64,
    /// Its number among the events of its stack, where it belongs to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_seq: Option<u64>,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// How many events were numbered, in all and of each stack.
#[derive(Debug, Default)]
struct Numbers {
    run: u64,
    stacks: BTreeMap<StackId, u64>,
}

impl Numbers {
    fn number(&mut self, event: RunEvent, at: Timestamp) -> NumberedEvent {
        let step = u64::from(event.is_recorded());
        self.run += step;
        let stack_seq = event.stack().map(|stack| {
            let count = self.stacks.entry(stack.clone()).or_default();
            *count += step;
            *count
        });
        NumberedEvent { at, seq: self.run, stack_seq, event }
    }
}

/// What a person says to a question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// Go on.
    Yes,
    /// Do nothing.
    No,
    /// Show every attribute that changes, and ask again.
    Details,
}

/// A question that only a person can answer.
#[derive(Clone, Debug)]
pub enum Question {
    /// Whether to apply what was shown.
    Apply {
        /// What it is about, those that lose something first.
        proposals: Vec<Proposal>,
        /// What cannot be shown yet, and is asked about later.
        later: Vec<Proposal>,
    },
    /// Whether to destroy what was shown; the answer is the project's name.
    Destroy {
        /// What it is about.
        proposals: Vec<Proposal>,
        /// What must be typed.
        project: String,
        /// What stays although what is below it goes.
        remaining: RemainingStacks,
    },
}

impl Question {
    /// Returns what is asked about.
    pub const fn proposals(&mut self) -> &mut Vec<Proposal> {
        match self {
            Self::Apply { proposals, .. } | Self::Destroy { proposals, .. } => proposals,
        }
    }
}

/// What is to be done to one stack, as a question lists it.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The stack.
    pub stack: StackId,
    /// What happens to its resources, the gravest first.
    pub changes: Vec<ResourceChange>,
    /// How many outputs change.
    pub outputs_changed: usize,
    /// When its plan was made, if it is a saved one.
    pub saved_at: Option<Timestamp>,
    /// The plan as tofu writes it for people, where that was asked for.
    pub details: Option<Vec<Safe>>,
    /// What changes in each resource, where that is shown.
    pub attributes: Vec<ChangeDetail>,
    /// What differs from what was shown before; the rest was said yes to already.
    pub differences: Vec<PlanDifference>,
    /// What else to know, such as that it is planned again later.
    pub note: Option<String>,
    /// Whether it loses resources although it is protected.
    pub is_protected: bool,
    /// Whether its plan was made by somebody else, or elsewhere.
    pub is_foreign: bool,
}

impl Proposal {
    /// Returns whether something that exists goes away.
    pub fn is_destructive(&self) -> bool {
        self.changes.iter().any(|change| change.action.is_destructive())
    }
}

/// What goes from the engine to whoever listens.
#[derive(Debug)]
pub enum Message {
    /// Something happened.
    Event(NumberedEvent),
    /// Something must be decided.
    Ask(Question, oneshot::Sender<Answer>),
}

/// The engine's end of the channel; clones share it.
#[derive(Clone, Debug)]
pub struct Events {
    messages: mpsc::UnboundedSender<Message>,
    numbers: Arc<Mutex<Numbers>>,
    clock: Clock,
}

/// The listener's end of the channel.
pub type Messages = mpsc::UnboundedReceiver<Message>;

impl Events {
    /// Makes a channel whose events get their times from this clock.
    pub fn channel(clock: Clock) -> (Self, Messages) {
        let (messages, receiver) = mpsc::unbounded_channel();
        (Self { messages, numbers: Arc::default(), clock }, receiver)
    }

    /// Tells that something happened.
    pub fn emit(&self, event: RunEvent) {
        // Sent before the next gets its number, so that they arrive in their order.
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let event = numbers.number(event, self.clock.now());
        // A listener that is gone wants nothing more; the run goes on to its end.
        let _ = self.messages.send(Message::Event(event));
    }

    /// Warns about the run as a whole.
    pub fn warn(&self, message: impl Into<String>, hints: Vec<String>) {
        self.emit(RunEvent::Warning { stack: None, message: message.into(), hints });
    }

    /// Asks and waits; without a listener the answer is no.
    pub async fn ask(&self, question: Question) -> Answer {
        let (sender, answer) = oneshot::channel();
        let _ = self.messages.send(Message::Ask(question, sender));
        answer.await.unwrap_or(Answer::No)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_in_the_run_and_in_their_stack() {
        let line = |id: &str| RunEvent::StepStarted { stack: StackId::new(id), step: Step::Plan };
        let seen = RunEvent::Refreshed { stack: StackId::new("a"), resources: 1 };
        let mut numbers = Numbers::default();

        let events = [line("a"), RunEvent::NothingDone, seen, line("b"), line("a")];
        let numbered = events.map(|event| numbers.number(event, Timestamp::UNIX_EPOCH));

        let recorded = numbered.iter().filter(|numbered| numbered.event.is_recorded());
        let told: Vec<_> = recorded.map(|numbered| (numbered.seq, numbered.stack_seq)).collect();
        assert_eq!(told, [(1, Some(1)), (2, None), (3, Some(1)), (4, Some(2))]);
    }
}
