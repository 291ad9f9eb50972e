//! How stacks and the run end on the screen: a line for each, the table, what they have in common.

use super::Console;
use crate::model::{RunReport, StackReport, StackResult, human_duration};
use crate::report::ending::{
    CauseDetail, OmittedStacks, SharedCause, count_line, is_quiet, next_steps, result_sign, result_table,
    result_tone, result_words, shared_causes,
};
use crate::report::failure::show_stack_error;
use crate::report::screen::{Tone, Verbosity};

impl Console {
    pub(super) fn stack_finished(&mut self, report: &StackReport) {
        self.live.finish(&report.id, report.result);
        self.show_output(&report.id);
        if self.stacks == 1 {
            self.live.pause();
        }
        if self.is_folded(report.result) || (self.nothing_done && report.error.is_none()) {
            return;
        }
        let telling = match self.terminal.verbosity() {
            Verbosity::Verbose => CauseDetail::Whole,
            _ => self.causes.add(report),
        };
        let sign = self.terminal.paint(result_tone(report), result_sign(report));
        let words = match &telling {
            CauseDetail::Whole => result_words(self.command, report),
            CauseDetail::Like(first) => format!("failed like {first} "),
            CauseDetail::Count(first, stacks) => {
                let words = result_words(self.command, report);
                return self.note(&format!("  {sign} {words} like {first}: {stacks} stacks by now"));
            }
            CauseDetail::Nothing => return,
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
                if telling == CauseDetail::Whole {
                    show_stack_error(&self.terminal, &report.id, error);
                }
            }),
            None => self.live.above(|| self.terminal.note_hanging(line, indent)),
        }
    }

    /// Where more stacks run than the screen has lines, those of which there is nothing to say are counted.
    fn is_folded(&self, result: StackResult) -> bool {
        is_quiet(self.command, result) && self.fold() == OmittedStacks::Quiet
    }

    fn fold(&self) -> OmittedStacks {
        let (rows, _) = self.terminal.size();
        if self.is_live() && self.stacks + 4 > rows { OmittedStacks::Quiet } else { OmittedStacks::Nothing }
    }

    pub(super) fn nothing_done(&mut self) {
        self.nothing_done = true;
        self.live.pause();
        self.note("  nothing was done");
    }

    pub(super) fn interrupted(&self, times: u32) {
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

    pub(super) fn run_finished(&mut self, report: &RunReport) {
        self.live.pause();
        self.output.release_all().iter().for_each(|line| self.note(line));
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
            let table = result_table(report, (self.fold(), &causes), self.terminal.columns());
            above = table.len();
            table.iter().for_each(|line| self.note(&format!(" {line}")));
            if !table.is_empty() {
                self.note("");
            }
            causes.iter().for_each(|cause| self.shared_cause(cause));
            if !causes.is_empty() {
                self.note("");
            }
            self.note(&format!("  {}", count_line(report)));
        }
        let steps = next_steps(report, &self.scope);
        self.show_listings(report, above + steps.len());
        for step in steps {
            self.note(&format!("  {} {step}", self.terminal.paint(Tone::Strong, "next:")));
        }
    }

    /// Shows what many stacks have in common; failures are shown with `--quiet` too.
    fn shared_cause(&self, cause: &SharedCause<'_>) {
        let (report, indent) = (cause.report, 6);
        let sign = self.terminal.paint(result_tone(report), result_sign(report));
        let heading = cause.heading(&result_words(self.command, report));
        let lines = cause.body().into_iter().map(|line| format!("      {line}"));
        let lines = std::iter::once(format!("  {sign} {heading}")).chain(lines);
        match cause.error() {
            Some(_) => lines.for_each(|line| self.terminal.alert_hanging(&line, indent)),
            None => lines.for_each(|line| self.terminal.note_hanging(&line, indent)),
        }
    }
}
