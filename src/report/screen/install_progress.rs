//! Getting tofu, as a person sees it: what is being done and how far it is.

use std::cell::RefCell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::terminal::{Terminal, Tone};

/// Shows the steps of an installation.
#[derive(Debug)]
pub struct InstallProgress {
    terminal: Terminal,
    bar: RefCell<Option<ProgressBar>>,
    /// The last line in a pipe, so that it is not repeated.
    last: RefCell<String>,
}

impl InstallProgress {
    /// Writes to this terminal.
    pub fn new(terminal: Terminal) -> Self {
        Self { terminal, bar: RefCell::default(), last: RefCell::default() }
    }

    /// Shows what is being done now.
    pub fn show(&self, text: String) {
        if !self.terminal.is_live() {
            return self.note_once(&text);
        }
        self.bar.borrow_mut().get_or_insert_with(new_bar).set_message(text);
    }

    /// Shows something that stays on the screen.
    pub fn keep(&self, sign: &str, tone: Tone, text: &str) {
        self.clear();
        self.terminal.note(&format!("  {} {text}", self.terminal.paint(tone, sign)));
    }

    fn note_once(&self, text: &str) {
        // Bytes and build lines change all the time; a log wants each step once.
        let stage = text.split_once(':').map_or(text, |(stage, _)| stage).to_owned();
        if self.last.replace(stage.clone()) != stage {
            self.terminal.note(&format!("  · {text}"));
        }
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for InstallProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("  {spinner} {wide_msg} {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
