//! A run as a person sees it: one line for each change of state, a live view on a
//! terminal, the plans on stdout, a table at the end.
//!
//! Each kind of event has a small function of its own; `plans` shows what would change, `endings`
//! how it ended.

mod board;
mod endings;
mod plans;
mod stack_output;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use self::board::Board;
use self::stack_output::StackOutput;
use super::ending::{Causes, Scope, Warnings};
use super::failure::show_hints;
use super::listen::Report;
use super::plan_view::{Details, Listed, visible};
use super::screen::{Live, Terminal, Tone, Verbosity, padded, shortened, text_width};
use crate::events::{NumberedEvent, Question, RunEvent};
use crate::model::{Diagnostic, LockHolder, ResourceChange, RunCommand, Severity, StackId, Step, few};

/// Returns the room for ids beside signs, words and times.
fn id_room(columns: usize) -> usize {
    const BESIDE: usize = 38;
    columns.saturating_sub(BESIDE).max(12)
}

/// Whether plans are written to stdout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PlanOutput {
    /// Yes: a person reads it.
    Shown,
    /// No: stdout belongs to a machine.
    Hidden,
}

/// The report for people.
#[derive(Debug)]
pub struct Console {
    terminal: Terminal,
    plans: PlanOutput,
    scope: Scope,
    /// How much of each change was asked for.
    details: Option<Details>,
    command: RunCommand,
    stacks: usize,
    /// Whether plans are listed with the question.
    asks: bool,
    id_width: usize,
    live: Live<Board>,
    /// When the run began; ages are told by it.
    started: Timestamp,
    /// Whether a person declined and nothing was done, so that nothing more is shown.
    nothing_done: bool,
    /// Whether a person is being asked, so that no tofu runs.
    asking: bool,
    /// Plans that are shown in the order of the stacks when all are made.
    listings: BTreeMap<StackId, Listed>,
    /// What was shown of each plan, so that a question does not repeat it.
    shown: BTreeMap<StackId, Vec<ResourceChange>>,
    /// Which saved plans were told to be taken, since a plan is looked at again in its turn.
    taken: BTreeSet<(StackId, Timestamp)>,
    /// Why stacks failed so far, so that one cause is told once.
    causes: Causes,
    /// Warnings that were shown, so that neither a second step nor another stack repeats them.
    warnings: Warnings,
    /// Stacks of which was told that they wait for a lock.
    awaiting: BTreeSet<StackId>,
    /// What tofu writes, each stack for itself.
    output: StackOutput,
}

impl Console {
    /// Writes to this terminal.
    pub fn new(terminal: Terminal, plans: PlanOutput) -> Self {
        Self {
            terminal,
            plans,
            scope: Scope::default(),
            details: None,
            command: RunCommand::Plan,
            stacks: 0,
            asks: false,
            id_width: 0,
            live: Live::new(Board::new(0), terminal),
            started: Timestamp::UNIX_EPOCH,
            nothing_done: false,
            asking: false,
            listings: BTreeMap::new(),
            shown: BTreeMap::new(),
            taken: BTreeSet::new(),
            causes: Causes::default(),
            warnings: Warnings::default(),
            awaiting: BTreeSet::new(),
            output: StackOutput::default(),
        }
    }

    /// Shows so much of each change.
    #[must_use]
    pub fn showing(self, details: Option<Details>) -> Self {
        Self { details, ..self }
    }

    /// Lets the next steps be said in the words in which the stacks were chosen.
    #[must_use]
    pub fn choosing(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    fn run_started(&mut self, (project, tofu): (&str, &str), stacks: &[StackId], parallelism: usize) {
        self.stacks = stacks.len();
        self.live = Live::new(Board::new(stacks.len()), self.terminal);
        let widest = stacks.iter().map(|id| text_width(id.as_str())).max().unwrap_or(0);
        self.id_width = self.terminal.columns().map_or(widest, |columns| widest.min(id_room(columns)));
        let count = match stacks {
            [] => "no stacks".to_owned(),
            [one] => one.to_string(),
            many => format!("{} stacks · {parallelism} at once", many.len()),
        };
        self.note(&format!("  {} · {count} · tofu {tofu}", self.terminal.paint(Tone::Strong, project)));
    }

    fn warning(&mut self, stack: Option<&StackId>, message: &str, hints: &[String]) {
        if self.terminal.verbosity() == Verbosity::Quiet {
            return;
        }
        let is_repeated = stack.is_some_and(|stack| !self.warnings.is_first(stack, message));
        if is_repeated && self.terminal.verbosity() < Verbosity::Verbose {
            return;
        }
        let about = stack.map(|id| format!("{id}: ")).unwrap_or_default();
        let line = format!("{}: {about}{}", self.terminal.paint(Tone::Warn, "warning"), message);
        self.note(&line);
        self.live.above(|| show_hints(&self.terminal, hints));
    }

    fn step_started(&mut self, stack: &StackId, step: Step) {
        self.asking = step == Step::Approve;
        if self.asking {
            return self.live.rest(stack);
        }
        if self.is_live() {
            self.live.set_doing(stack, step.doing().to_owned());
        } else if step != Step::Init || !self.is_storm() {
            // Where stack after stack fails for one reason, one that goes on is told with its next step.
            self.note(&format!("  · {}  {}", self.column_of(stack), step.doing()));
        }
    }

    fn is_storm(&self) -> bool {
        self.causes.is_storm() && self.terminal.verbosity() < Verbosity::Verbose
    }

    /// A live view is told each time, a log once.
    fn lock_awaited(&mut self, stack: &StackId, holder: Option<&LockHolder>) {
        let words = visible(&awaiting_words(holder));
        if self.is_live() {
            self.live.set_doing(stack, words);
        } else if self.awaiting.insert(stack.clone()) {
            self.note(&format!("  · {}  {words}", self.column_of(stack)));
        }
    }

    fn lock_taken(&mut self, stack: &StackId, step: Step) {
        self.awaiting.remove(stack);
        self.step_started(stack, step);
    }

    /// Returns the id as wide as all others; where no run began, there are no others.
    fn column_of(&self, stack: &StackId) -> String {
        if self.id_width == 0 {
            return stack.to_string();
        }
        padded(&shortened(stack.as_str(), self.id_width), self.id_width)
    }

    fn line(&mut self, stack: &StackId, step: Step, text: &str) {
        if self.terminal.verbosity() == Verbosity::Verbose {
            let line = self.terminal.paint(Tone::Dim, &format!("    {stack} | {}", visible(text)));
            match (self.stacks, step) {
                (1, _) => self.note(&line),
                (_, Step::Apply) => self.show_line(stack, line),
                _ => self.output.hold(stack, line),
            }
        }
    }

    /// Shows a line of a stack that changes something, or keeps it until the stack before it is done.
    fn show_line(&mut self, stack: &StackId, line: String) {
        self.output.write(stack, line).iter().for_each(|line| self.note(line));
    }

    /// Shows the lines that were kept for a stack that has stopped writing.
    fn show_output(&mut self, stack: &StackId) {
        self.output.release(stack).iter().for_each(|line| self.note(line));
    }

    /// One stack's resources are lines; those of many are only glimpsed in the live view.
    fn resource(&mut self, stack: &StackId, address: &str, message: &str) {
        // The id that a provider gave says little, and breaks lines.
        let message = message.split(" [id=").next().unwrap_or(message);
        let text = visible(&format!("{address}: {message}"));
        if self.stacks > 1 && self.is_live() {
            self.live.set_doing(stack, text);
        } else if self.stacks == 1 {
            self.note(&self.terminal.paint(Tone::Dim, &format!("      {text}")));
        } else if self.terminal.verbosity() == Verbosity::Verbose {
            let line = self.terminal.paint(Tone::Dim, &format!("    {stack} | {text}"));
            self.show_line(stack, line);
        }
    }

    /// Only glimpsed: a plan of many resources takes its time, and this is what it takes it for.
    fn refreshed(&mut self, stack: &StackId, resources: usize) {
        if self.is_live() {
            let plural = if resources == 1 { "" } else { "s" };
            self.live.set_doing(stack, format!("refreshed {resources} resource{plural}"));
        }
    }

    /// Errors are shown with their stack's result; warnings right away, each once.
    fn diagnostic(&mut self, stack: &StackId, diagnostic: &Diagnostic) {
        if diagnostic.severity == Severity::Error || !self.warnings.is_new(stack, &diagnostic.summary) {
            return;
        }
        let place = diagnostic.place.as_ref().map(|place| format!(" (at {place})")).unwrap_or_default();
        self.warning(Some(stack), &visible(&format!("{}{place}", diagnostic.summary)), &[]);
    }

    /// Whether there is a live view; with `--quiet` there is none.
    fn is_live(&self) -> bool {
        self.terminal.is_live() && self.terminal.verbosity() > Verbosity::Quiet
    }

    fn note(&self, line: &str) {
        self.live.above(|| self.terminal.note(line));
    }
}

impl Report for Console {
    fn event(&mut self, NumberedEvent { at, event, .. }: &NumberedEvent) {
        match event {
            RunEvent::RunStarted { command, project, stacks, tofu, parallelism, asks, .. } => {
                (self.command, self.asks, self.started) = (*command, *asks, *at);
                self.run_started((project, tofu), stacks, *parallelism);
            }
            RunEvent::Warning { stack, message, hints } => self.warning(stack.as_ref(), message, hints),
            RunEvent::StepStarted { stack, step } => self.step_started(stack, *step),
            RunEvent::Line { stack, step, text } => self.line(stack, *step, text),
            RunEvent::Resource { stack, address, message } => self.resource(stack, address, message),
            RunEvent::Refreshed { stack, resources } => self.refreshed(stack, *resources),
            RunEvent::LockAwaited { stack, holder } => self.lock_awaited(stack, holder.as_ref()),
            RunEvent::LockTaken { stack, step } => self.lock_taken(stack, *step),
            RunEvent::Diagnostic { stack, diagnostic } => self.diagnostic(stack, diagnostic),
            RunEvent::Planned { stack, changes, outputs_changed, text, details, saved_at } => {
                self.planned(stack, (changes, *outputs_changed), (text, details), *saved_at);
                self.taken_up(stack, *saved_at);
            }
            RunEvent::PlanDiffers { stack, differences, note, applied, left } if *applied || *left => {
                self.plan_differs(stack, differences, note, *applied);
            }
            RunEvent::PlanDiffers { .. } => {}
            RunEvent::StateRenamed { stack, was } => {
                self.note(&format!("`{stack}` has the state of `{was}` now"));
            }
            RunEvent::StatesNoted { stacks } => self.note(&states_noted(stacks)),
            RunEvent::NothingDone => self.nothing_done(),
            RunEvent::StackFinished { report } => self.stack_finished(report),
            RunEvent::Interrupted { times } => self.interrupted(*times),
            RunEvent::RunFinished { report } => self.run_finished(report),
        }
    }

    fn question(&mut self, question: &Question) {
        self.live.pause();
        self.output.release_all().iter().for_each(|line| self.note(line));
        match question {
            Question::Apply { proposals, later } => self.list(proposals.iter().chain(later)),
            Question::Destroy { proposals, .. } => self.list(proposals.iter()),
        }
    }
}

/// Says which entries of `infra.lock` are new, changed or gone; a few are named.
fn states_noted(stacks: &[StackId]) -> String {
    const NAMED: usize = 3;
    format!("infra.lock changed: {}; commit it", few(stacks, NAMED))
}

/// Says whom a stack waits for.
fn awaiting_words(holder: Option<&LockHolder>) -> String {
    let Some(LockHolder { who, operation, since }) = holder else { return "waiting for the lock".to_owned() };
    let since = since.map(|since| format!(" since {}", since.strftime("%H:%M:%S UTC"))).unwrap_or_default();
    format!("waiting for the lock of {who} ({operation}{since})")
}
