//! A run as a person sees it: one line for each change of state, redrawn progress on a
//! terminal, the plan on stdout, a table at the end.
//!
//! Each kind of event has a small function of its own.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;

use super::failure::show_hints;
use super::listen::Report;
use super::next_steps::next_steps;
use super::plan_text::{change_line, changes_only, colored};
use super::summary;
use super::terminal::{Terminal, Tone, Verbosity};
use crate::events::RunEvent;
use crate::model::{
    ChangeCounts, Diagnostic, ResourceChange, RunCommand, RunReport, Severity, StackError, StackId,
    StackReport, Step, human_duration,
};

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
    command: RunCommand,
    stacks: usize,
    id_width: usize,
    spinner: Option<ProgressBar>,
    /// Whether a person is being asked, so that no tofu runs.
    asking: bool,
    /// Warnings of tofu that were shown, so that a second step does not repeat them.
    warned: BTreeSet<String>,
}

impl Console {
    /// Writes to this terminal.
    pub fn new(terminal: Terminal, plans: PlanOutput) -> Self {
        let (command, warned) = (RunCommand::Plan, BTreeSet::new());
        Self { terminal, plans, command, stacks: 0, id_width: 0, spinner: None, asking: false, warned }
    }

    fn run_started(&mut self, (command, project, tofu): (RunCommand, &str, &str), stacks: &[StackId]) {
        self.command = command;
        self.stacks = stacks.len();
        self.id_width = stacks.iter().map(|id| id.as_str().chars().count()).max().unwrap_or(0);
        let count =
            if stacks.len() == 1 { stacks[0].to_string() } else { format!("{} stacks", stacks.len()) };
        self.note(&format!("  {} · {count} · tofu {tofu}", self.terminal.paint(Tone::Strong, project)));
    }

    fn warning(&mut self, stack: Option<&StackId>, message: &str, hints: &[String]) {
        let about = stack.map(|id| format!("{id}: ")).unwrap_or_default();
        let line = format!("{}: {about}{message}", self.terminal.paint(Tone::Warn, "warning"));
        self.note(&line);
        self.above_progress(|terminal| show_hints(terminal, hints));
    }

    fn step_started(&mut self, stack: &StackId, step: Step) {
        self.asking = step == Step::Approve;
        if self.asking {
            return;
        }
        let line = format!("{:width$}  {}", stack.as_str(), step.doing(), width = self.id_width);
        match &self.spinner {
            Some(spinner) => spinner.set_message(line),
            None if self.terminal.is_live() => {
                self.spinner = Some(new_spinner(line));
            }
            None => self.note(&format!("  · {line}")),
        }
    }

    fn line(&self, stack: &StackId, text: &str) {
        if self.terminal.verbosity() == Verbosity::Verbose {
            self.note(&self.terminal.paint(Tone::Dim, &format!("    {stack} | {}", visible(text))));
        }
    }

    /// One stack's resources are lines; those of many are only glimpsed beside the progress.
    fn resource(&self, stack: &StackId, address: &str, message: &str) {
        // The id that a provider gave says little, and breaks lines.
        let message = message.split(" [id=").next().unwrap_or(message);
        let text = visible(&format!("{address}: {message}"));
        match &self.spinner {
            Some(spinner) if self.stacks > 1 => {
                spinner.set_message(format!("{:width$}  {text}", stack.as_str(), width = self.id_width));
            }
            _ if self.stacks == 1 || self.terminal.verbosity() == Verbosity::Verbose => {
                self.note(&self.terminal.paint(Tone::Dim, &format!("      {text}")));
            }
            _ => {}
        }
    }

    /// Errors are shown with their stack's result; warnings right away, each once.
    fn diagnostic(&mut self, stack: &StackId, diagnostic: &Diagnostic) {
        if diagnostic.severity == Severity::Error
            || !self.warned.insert(format!("{stack}{}", diagnostic.summary))
        {
            return;
        }
        let place = diagnostic.place.as_ref().map(|place| format!(" (at {place})")).unwrap_or_default();
        self.warning(Some(stack), &format!("{}{place}", diagnostic.summary), &[]);
    }

    fn planned(&self, stack: &StackId, changes: &[ResourceChange], text: &[String]) {
        let body = changes_only(text);
        if self.plans == PlanOutput::Hidden || (changes.is_empty() && body.is_empty()) {
            return;
        }
        let full = self.stacks == 1 || self.terminal.verbosity() == Verbosity::Verbose;
        let lines = if full && !body.is_empty() {
            body.iter().map(|line| colored(&self.terminal, line)).collect()
        } else {
            self.change_list(stack, changes)
        };
        self.above_progress(|terminal| terminal.data(&format!("{}\n", lines.join("\n"))));
    }

    /// Lists the resources of a plan below their stack and its counts.
    fn change_list(&self, stack: &StackId, changes: &[ResourceChange]) -> Vec<String> {
        let name = self.terminal.paint_data(Tone::Strong, stack.as_str());
        let counts = match changes.is_empty() {
            true => "outputs only".to_owned(),
            false => ChangeCounts::of(changes).to_string(),
        };
        let lines = changes.iter().map(|change| change_line(&self.terminal, change));
        std::iter::once(format!("{name}  {counts}")).chain(lines).collect()
    }

    fn taken_up(&self, stack: &StackId, saved_at: Option<Timestamp>) {
        if let Some(made) = saved_at {
            self.note(&format!(
                "  · {stack}: takes the plan that was saved at {}",
                made.strftime("%F %T UTC")
            ));
        }
    }

    fn stack_finished(&mut self, report: &StackReport) {
        self.pause();
        let sign = self.terminal.paint(summary::tone(report.result), summary::sign(report.result));
        let words = summary::words(self.command, report);
        // What did not run has a reason, and no time worth telling.
        let time = match report.reason {
            None => self.terminal.paint(Tone::Dim, &human_duration(report.duration_s)),
            Some(_) => String::new(),
        };
        let line =
            format!("  {sign} {:width$}  {words:24} {time}", report.id.as_str(), width = self.id_width);
        match &report.error {
            Some(error) => self.failure(&line, report, error),
            None => self.note(line.trim_end()),
        }
    }

    fn failure(&self, line: &str, report: &StackReport, error: &StackError) {
        let heading = error.code.as_ref().map_or_else(|| "error".to_owned(), |code| format!("error[{code}]"));
        let about = if error.summary.contains(&format!("`{}`", report.id)) {
            String::new()
        } else {
            format!("{}: ", report.id)
        };
        self.terminal.alert(line);
        self.terminal.alert(&format!(
            "{}: {about}{}",
            self.terminal.paint(Tone::Bad, &heading),
            error.summary
        ));
        // tofu's own diagnostics repeat the summary as their first line.
        let detail = error.detail.strip_prefix(error.summary.as_str()).unwrap_or(&error.detail);
        detail
            .lines()
            .filter(|line| !line.is_empty())
            .for_each(|line| self.terminal.alert(&format!("  {}", visible(line))));
        let hints: Vec<String> = error.hint.iter().flat_map(|hint| hint.lines().map(str::to_owned)).collect();
        show_hints(&self.terminal, &hints);
    }

    fn interrupted(&self, times: u32) {
        let text = match times {
            _ if self.asking => "nothing more is changed",
            1 => {
                "stopping gently: tofu finishes what it does and saves its state; Ctrl-C again stops at once"
            }
            _ => "stopping at once",
        };
        // The cursor may stand behind a question, or behind the terminal's own `^C`.
        let fresh_line = if self.terminal.is_live() { "\n" } else { "" };
        self.note(&format!("{fresh_line}{}: {text}", self.terminal.paint(Tone::Warn, "interrupted")));
    }

    fn run_finished(&mut self, report: &RunReport) {
        self.pause();
        if report.stacks.len() > 1 {
            self.note("");
            summary::table(report).iter().for_each(|line| self.note(&format!(" {line}")));
            self.note("");
            self.note(&format!("  {}", summary::count_line(report)));
        }
        for step in next_steps(report) {
            self.note(&format!("  {} {step}", self.terminal.paint(Tone::Strong, "next:")));
        }
    }

    fn note(&self, line: &str) {
        self.above_progress(|terminal| terminal.note(line));
    }

    /// Writes while the progress line is out of the way.
    fn above_progress(&self, write: impl FnOnce(&Terminal)) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| write(&self.terminal)),
            None => write(&self.terminal),
        }
    }
}

impl Report for Console {
    fn event(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunStarted { command, project, stacks, tofu, .. } => {
                self.run_started((*command, project, tofu), stacks);
            }
            RunEvent::Warning { stack, message, hints } => self.warning(stack.as_ref(), message, hints),
            RunEvent::StepStarted { stack, step } => self.step_started(stack, *step),
            RunEvent::Line { stack, text, .. } => self.line(stack, text),
            RunEvent::Resource { stack, address, message } => self.resource(stack, address, message),
            RunEvent::Diagnostic { stack, diagnostic } => self.diagnostic(stack, diagnostic),
            RunEvent::Planned { stack, changes, text, saved_at, .. } => {
                self.planned(stack, changes, text);
                self.taken_up(stack, *saved_at);
            }
            RunEvent::StackFinished { report } => self.stack_finished(report),
            RunEvent::Interrupted { times } => self.interrupted(*times),
            RunEvent::RunFinished { report } => self.run_finished(report),
        }
    }

    fn pause(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}

fn new_spinner(message: String) -> ProgressBar {
    let style = ProgressStyle::with_template("  {spinner} {wide_msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let spinner = ProgressBar::new_spinner().with_style(style).with_message(message);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// Makes what a provisioner printed harmless: no escape sequence reaches the terminal.
fn visible(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\t' { '\u{fffd}' } else { char }).collect()
}
