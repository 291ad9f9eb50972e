//! The live view on a terminal: one block of lines that is drawn again and again below
//! everything that stays.
//!
//! What is drawn is decided by the board at the moment of drawing, so that a terminal
//! that changes its size is served at the next tick.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use super::board::{Board, Size};
use super::terminal::Terminal;
use crate::model::{StackId, StackResult};

const TICK: Duration = Duration::from_millis(120);

/// The block of lines, while there is something to show.
#[derive(Debug)]
pub(super) struct Live {
    board: Arc<Mutex<Board>>,
    bar: Option<ProgressBar>,
    /// How long earlier blocks of this run were shown.
    shown: Duration,
}

impl Live {
    pub fn new(stacks: usize) -> Self {
        Self { board: Arc::new(Mutex::new(Board::new(stacks))), bar: None, shown: Duration::ZERO }
    }

    /// Says what a stack does now, and shows the block if it was away.
    pub fn set_doing(&mut self, stack: &StackId, doing: String, terminal: Terminal) {
        let now = self.now();
        self.board().set_doing(stack, doing, now);
        if self.bar.is_none() {
            self.bar = Some(new_bar(Arc::clone(&self.board), self.shown, terminal));
        }
    }

    pub fn rest(&self, stack: &StackId) {
        self.board().rest(stack);
    }

    pub fn finish(&self, stack: &StackId, result: StackResult) {
        self.board().finish(stack, result);
    }

    /// Writes something that stays, above the block.
    pub fn above(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the block away until a stack does something again.
    pub fn pause(&mut self) {
        if let Some(bar) = self.bar.take() {
            self.shown += bar.elapsed();
            bar.finish_and_clear();
        }
    }

    fn now(&self) -> Duration {
        self.shown + self.bar.as_ref().map(ProgressBar::elapsed).unwrap_or_default()
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_bar(board: Arc<Mutex<Board>>, before: Duration, terminal: Terminal) -> ProgressBar {
    let draw = move |state: &ProgressState, out: &mut dyn Write| {
        let spinner = spinner_at(state.elapsed());
        let board = board.lock().unwrap_or_else(PoisonError::into_inner);
        let (rows, columns) = terminal.size();
        let lines = board.lines(spinner, before + state.elapsed(), Size { rows, columns });
        // A line that cannot be formatted is drawn at the next tick.
        let _ = out.write_str(&lines.join("\n"));
    };
    let style = ProgressStyle::with_template("{board}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style.with_key("board", draw));
    bar.enable_steady_tick(TICK);
    bar
}

fn spinner_at(elapsed: Duration) -> &'static str {
    const SIGNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let tick = elapsed.as_millis() / TICK.as_millis();
    SIGNS[usize::try_from(tick % 10).unwrap_or(0)]
}
