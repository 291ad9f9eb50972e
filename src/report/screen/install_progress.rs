//! Getting tofu, as a person sees it: what is being done and how far it is.

use std::cell::RefCell;
use std::time::Duration;

use super::block::{Size, cut};
use super::escape::escaped_for_terminal;
use super::live::{Live, Picture};
use super::terminal::{Terminal, Tone};
use crate::model::human_duration;

/// Shows the steps of an installation.
#[derive(Debug)]
pub struct InstallProgress {
    terminal: Terminal,
    live: RefCell<Live<CurrentStep>>,
    /// The last line in a pipe, so that it is not repeated.
    last: RefCell<String>,
}

impl InstallProgress {
    /// Writes to this terminal.
    pub fn new(terminal: Terminal) -> Self {
        let live = RefCell::new(Live::new(CurrentStep::default(), terminal));
        Self { terminal, live, last: RefCell::default() }
    }

    /// Shows what is being done now.
    pub fn show(&self, text: String) {
        if !self.terminal.is_live() {
            return self.note_once(&text);
        }
        self.live.borrow_mut().show(|step, now| step.set(escaped_for_terminal(&text, &[]).into_owned(), now));
    }

    /// Shows something that stays on the screen.
    pub fn keep(&self, sign: &str, tone: Tone, text: &str) {
        self.live.borrow_mut().pause();
        self.terminal.note(&format!("  {} {text}", self.terminal.paint(tone, sign)));
    }

    fn note_once(&self, text: &str) {
        // Bytes and build lines change all the time; a log wants each step once.
        let stage = stage_of(text).to_owned();
        if self.last.replace(stage.clone()) != stage {
            self.terminal.note(&format!("  · {text}"));
        }
    }
}

/// Returns the part of a text that stays the same during a step.
fn stage_of(text: &str) -> &str {
    text.split_once(':').map_or(text, |(stage, _)| stage)
}

/// The step that is being done, and since when.
#[derive(Debug, Default)]
struct CurrentStep {
    text: String,
    began: Duration,
}

impl CurrentStep {
    fn set(&mut self, text: String, now: Duration) {
        if stage_of(&self.text) != stage_of(&text) {
            self.began = now;
        }
        self.text = text;
    }
}

impl Picture for CurrentStep {
    fn lines(&self, spinner: &str, now: Duration, size: Size) -> Vec<String> {
        let time = human_duration(now.saturating_sub(self.began).as_secs_f64());
        let text = cut(&self.text, size.columns.saturating_sub(time.len() + 6));
        vec![cut(&format!("  {spinner} {text}  {time}"), size.columns)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line_with_its_time_however_narrow_the_screen() {
        let mut step = CurrentStep::default();
        let second = Duration::from_secs(1);

        step.set("downloading tofu.tar.gz: 1.0 MiB of 30.0 MiB".to_owned(), second);
        step.set("downloading tofu.tar.gz: 2.0 MiB of 30.0 MiB".to_owned(), second * 3);
        let line = |columns| step.lines("-", second * 4, Size { rows: 24, columns });

        assert_eq!(line(80), ["  - downloading tofu.tar.gz: 2.0 MiB of 30.0 MiB  3.0s"]);
        assert_eq!(line(40), ["  - downloading tofu.tar.gz: 2.0…  3.0s"]);
        assert_eq!(line(8).len(), 1);
    }
}
