//! A run as a person sees it: one line for each change of state, a live view on a
//! terminal, the plans on stdout, a table at the end.
//!
//! Each kind of event has a small function of its own.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::causes::{Causes, SharedCause, Telling, shared_causes};
use super::details::Details;
use super::differences::difference_lines;
use super::failure::{show_hints, show_stack_error};
use super::fit::{padded, shortened, text_width};
use super::listen::Report;
use super::live::Live;
use super::next_steps::next_steps;
use super::plan_screen::{Listed, PlanScreen};
use super::plan_text::{Listing, visible, whole};
use super::scope::Scope;
use super::summary::{self, Fold};
use super::terminal::{Terminal, Tone, Verbosity};
use super::voices::Voices;
use super::warnings::Warnings;
use crate::events::{Proposal, Question, RunEvent};
use crate::model::{
    ChangeDetail, Diagnostic, LockHolder, PlanDifference, ResourceChange, RunCommand, RunReport, Safe,
    Severity, StackId, StackReport, StackResult, Step, few, human_duration, quoted,
};

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
    live: Live,
    /// When the run began; ages are told by it.
    started: Timestamp,
    /// Whether somebody said no and nothing was done, so that there is nothing more to say.
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
    voices: Voices,
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
            live: Live::new(0, terminal),
            started: Timestamp::UNIX_EPOCH,
            nothing_done: false,
            asking: false,
            listings: BTreeMap::new(),
            shown: BTreeMap::new(),
            taken: BTreeSet::new(),
            causes: Causes::default(),
            warnings: Warnings::default(),
            awaiting: BTreeSet::new(),
            voices: Voices::default(),
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
        self.live = Live::new(stacks.len(), self.terminal);
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
                (_, Step::Apply) => self.speak(stack, line),
                _ => self.voices.hold(stack, line),
            }
        }
    }

    fn speak(&mut self, stack: &StackId, line: String) {
        self.voices.speak(stack, line).iter().for_each(|line| self.note(line));
    }

    /// Shows what a stack said that rests now.
    fn hear(&mut self, stack: &StackId) {
        self.voices.rest(stack).iter().for_each(|line| self.note(line));
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
            self.speak(stack, line);
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

    /// One plan is shown as it comes; of several each is shown in its place.
    fn planned(
        &mut self,
        stack: &StackId,
        (changes, outputs_changed): (&[ResourceChange], usize),
        (text, details): (&[Safe], &[ChangeDetail]),
        saved_at: Option<Timestamp>,
    ) {
        self.live.rest(stack);
        self.hear(stack);
        // A saved plan is looked at again in its turn.
        if saved_at.is_some_and(|made| self.taken.contains(&(stack.clone(), made))) {
            return;
        }
        let is_hidden = self.plans == PlanOutput::Hidden || self.details == Some(Details::None);
        if is_hidden || (self.asks && self.stacks > 1) {
            return;
        }
        let (differences, full, note) = (&[][..], self.plan_screen().is_full(self.stacks), None);
        let plan = Listing { stack, changes, outputs_changed, differences, details, text, full, note };
        let listed = self.plan_screen().listed(plan);
        if listed.is_empty() {
            return;
        }
        self.shown.insert(stack.clone(), changes.to_vec());
        if self.stacks == 1 {
            self.live.above(|| self.terminal.text(&format!("{}\n", listed.lines().join("\n"))));
        } else if self.command.is_ordered() {
            self.live.above(|| self.terminal.group(stack.as_str(), &listed.lines()));
        } else {
            self.listings.insert(stack.clone(), listed);
        }
    }

    /// What is asked about is listed with the question; what goes on or ends without one is told here.
    fn plan_differs(&self, stack: &StackId, differences: &[PlanDifference], note: &str, applied: bool) {
        if self.terminal.verbosity() == Verbosity::Quiet {
            return;
        }
        let word = self.terminal.paint(Tone::Warn, "warning");
        let end = if applied { "`--yes` was given, so it is applied" } else { "so it is left as it is" };
        self.note(&format!("{word}: {stack}: {note}; {end}"));
        let lines = differences.iter().flat_map(|one| difference_lines(&self.terminal, one));
        lines.for_each(|line| self.note(&line));
    }

    fn taken_up(&mut self, stack: &StackId, saved_at: Option<Timestamp>) {
        let made = saved_at.filter(|made| self.taken.insert((stack.clone(), *made)));
        // A question about several lists it with its age.
        if let Some(made) = made.filter(|_| !self.asks || self.stacks == 1) {
            let (id, age) = (shortened(stack.as_str(), self.id_width), self.age(made));
            self.note(&format!("  · {id}: takes the plan that was saved {age} ago"));
        }
    }

    fn age(&self, made: Timestamp) -> String {
        human_duration(self.started.duration_since(made).as_secs_f64().max(0.0))
    }

    fn nothing_done(&mut self) {
        self.nothing_done = true;
        self.live.pause();
        self.note("  nothing was done");
    }

    fn stack_finished(&mut self, report: &StackReport) {
        self.live.finish(&report.id, report.result);
        self.hear(&report.id);
        if self.stacks == 1 {
            self.live.pause();
        }
        if self.is_folded(report.result) || (self.nothing_done && report.error.is_none()) {
            return;
        }
        let telling = match self.terminal.verbosity() {
            Verbosity::Verbose => Telling::Whole,
            _ => self.causes.add(report),
        };
        let sign = self.terminal.paint(summary::tone(report), summary::sign(report));
        let words = match &telling {
            Telling::Whole => summary::words(self.command, report),
            Telling::Like(first) => format!("failed like {first} "),
            Telling::Count(first, stacks) => {
                let words = summary::words(self.command, report);
                return self.note(&format!("  {sign} {words} like {first}: {stacks} stacks by now"));
            }
            Telling::Nothing => return,
        };
        // What did not run has a reason, and no time worth telling.
        let time = match &report.reason {
            Some(_) if !report.provisional => String::new(),
            _ => self.terminal.paint(Tone::Dim, &human_duration(report.duration_s)),
        };
        let line = format!("  {sign} {}  {words:24} {time}", self.column_of(&report.id));
        let (line, indent) = (line.trim_end(), self.id_width + 6);
        match &report.error {
            Some(error) => self.live.above(|| {
                self.terminal.alert_hanging(line, indent);
                if telling == Telling::Whole {
                    show_stack_error(&self.terminal, &report.id, error);
                }
            }),
            None => self.live.above(|| self.terminal.note_hanging(line, indent)),
        }
    }

    /// Where more stacks run than the screen has lines, those of which there is nothing to say are counted.
    fn is_folded(&self, result: StackResult) -> bool {
        summary::is_quiet(self.command, result) && self.fold() == Fold::Quiet
    }

    fn fold(&self) -> Fold {
        let (rows, _) = self.terminal.size();
        if self.is_live() && self.stacks + 4 > rows { Fold::Quiet } else { Fold::Nothing }
    }

    fn interrupted(&self, times: u32) {
        let text = match times {
            _ if self.asking => "nothing more is changed",
            1 => {
                "stopping gently: tofu finishes what it does and saves its state; Ctrl-C again stops at once"
            }
            _ => "stopping at once",
        };
        // The cursor may stand behind the terminal's own `^C`; behind a question it does no more.
        let fresh_line = if self.terminal.is_live() && !self.asking { "\n" } else { "" };
        self.note(&format!("{fresh_line}{}: {text}", self.terminal.paint(Tone::Warn, "interrupted")));
    }

    fn run_finished(&mut self, report: &RunReport) {
        self.live.pause();
        self.voices.all().iter().for_each(|line| self.note(line));
        let repeated = self.warnings.repeated();
        repeated
            .iter()
            .for_each(|words| self.note(&format!("{}: {words}", self.terminal.paint(Tone::Warn, "warning"))));
        if self.nothing_done {
            return;
        }
        let causes = match self.terminal.verbosity() {
            Verbosity::Verbose => Vec::new(),
            _ => shared_causes(report),
        };
        let mut above = 0;
        if report.stacks.len() > 1 {
            self.note("");
            let table = summary::table(report, (self.fold(), &causes), self.terminal.columns());
            above = table.len();
            table.iter().for_each(|line| self.note(&format!(" {line}")));
            if !table.is_empty() {
                self.note("");
            }
            causes.iter().for_each(|cause| self.shared_cause(cause));
            if !causes.is_empty() {
                self.note("");
            }
            self.note(&format!("  {}", summary::count_line(report)));
        }
        let steps = next_steps(report, &self.scope);
        self.show_listings(report, above + steps.len());
        for step in steps {
            self.note(&format!("  {} {step}", self.terminal.paint(Tone::Strong, "next:")));
        }
    }

    /// Tells what many stacks have in common; failures even to whoever wants nothing else.
    fn shared_cause(&self, cause: &SharedCause<'_>) {
        let (report, indent) = (cause.report, 6);
        let sign = self.terminal.paint(summary::tone(report), summary::sign(report));
        let heading = cause.heading(&summary::words(self.command, report));
        let lines = cause.body().into_iter().map(|line| format!("      {line}"));
        let lines = std::iter::once(format!("  {sign} {heading}")).chain(lines);
        match cause.error() {
            Some(_) => lines.for_each(|line| self.terminal.alert_hanging(&line, indent)),
            None => lines.for_each(|line| self.terminal.note_hanging(&line, indent)),
        }
    }

    /// Shows the changes of each stack in the order of the stacks; `beside` lines are on the screen too.
    fn show_listings(&mut self, report: &RunReport, beside: usize) {
        let ordered = report.stacks.iter().filter_map(|stack| self.listings.remove_entry(&stack.id));
        let ordered: Vec<(StackId, Listed)> = ordered.collect();
        if ordered.is_empty() {
            return;
        }
        self.note("");
        if let Some(stack) = self.plan_screen().show(ordered, beside) {
            self.note(&format!("  folded to fit: {}", self.way_to_all(&stack)));
        }
        // Where stdout goes elsewhere, nothing stands between the two.
        if self.terminal.out_columns().is_some() {
            self.note("");
        }
    }

    const fn plan_screen(&self) -> PlanScreen {
        PlanScreen { terminal: self.terminal, details: self.details }
    }

    /// Says how to see what is folded away.
    fn way_to_all(&self, stack: &StackId) -> String {
        let is_saved = self.command == RunCommand::Plan && self.scope.plans_dir.is_none();
        let again = match &self.scope.in_full {
            Some(command) => format!("`{command}`"),
            None => "the same command with `--details all`".to_owned(),
        };
        match is_saved && !self.scope.keeps_no_plans {
            true => {
                format!("see all of a stack: `infra show {} --plan`, of all: {again}", quoted(stack.as_str()))
            }
            false => format!("see all: {again}"),
        }
    }

    /// Lists what a question is about, where it was not shown before.
    fn list<'a>(&self, proposals: impl Iterator<Item = &'a Proposal>) {
        let is_new = |proposal: &&Proposal| match self.stacks {
            _ if proposal.details.is_some() => true,
            // A single plan was shown as a whole; only what else is to be known of it is new.
            1 => proposal.note.is_some(),
            _ => {
                !proposal.differences.is_empty() || self.shown.get(&proposal.stack) != Some(&proposal.changes)
            }
        };
        let new: Vec<&Proposal> = proposals.filter(is_new).collect();
        let screen = self.plan_screen();
        let proposed = |proposal: &&Proposal| self.with_listing(proposal, |plan| screen.proposed(plan));
        let folded = screen.fold_question(&new.iter().map(proposed).collect::<Vec<_>>());
        let mut is_folded = false;
        for (number, proposal) in new.iter().enumerate() {
            let lines = match &proposal.details {
                Some(text) => self.with_listing(proposal, |plan| whole(&self.terminal, plan, text)),
                None => folded.stacks[number].clone(),
            };
            is_folded |= proposal.details.is_none() && folded.first_folded.is_some();
            let lines = lines.join("\n");
            match self.plans {
                PlanOutput::Shown => self.terminal.text(&format!("{lines}\n")),
                PlanOutput::Hidden => self.terminal.alert(&lines),
            }
        }
        if is_folded {
            self.note("  folded to fit: `d` shows every attribute");
        }
    }

    fn with_listing<T>(&self, proposal: &Proposal, write: impl FnOnce(Listing<'_>) -> T) -> T {
        let Proposal { stack, changes, outputs_changed, differences, .. } = proposal;
        let age = proposal.saved_at.map(|made| format!("saved {} ago", self.age(made)));
        let notes: Vec<String> = age.into_iter().chain(proposal.note.clone()).collect();
        let note = Some(notes.join(" · ")).filter(|note| !note.is_empty());
        let (outputs_changed, note) = (*outputs_changed, note.as_deref());
        let (details, text, full) = (&proposal.attributes[..], &[][..], false);
        write(Listing { stack, changes, outputs_changed, differences, details, text, full, note })
    }

    /// Whether there is a live view; whoever wants only failures gets none.
    fn is_live(&self) -> bool {
        self.terminal.is_live() && self.terminal.verbosity() > Verbosity::Quiet
    }

    fn note(&self, line: &str) {
        self.live.above(|| self.terminal.note(line));
    }
}

impl Report for Console {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { command, project, stacks, tofu, parallelism, asks, at, .. } => {
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
        self.voices.all().iter().for_each(|line| self.note(line));
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
