//! The live view on a terminal: one block of lines that is drawn again and again below
//! everything that stays.
//!
//! What is drawn is decided by the board at the moment of drawing, so that a terminal
//! that changes its size is served at the next tick. A thread ticks while the block is
//! shown; it draws and does nothing else.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::block::Block;
use super::board::{Board, Size};
use crate::model::{StackId, StackResult};
use crate::report::screen::Terminal;

const TICK: Duration = Duration::from_millis(120);

/// The block of lines, while there is something to show.
#[derive(Debug)]
pub struct Live {
    shared: Arc<Shared>,
    ticker: Option<JoinHandle<()>>,
}

/// What the ticking thread shares.
#[derive(Debug)]
struct Shared {
    view: Mutex<View>,
    /// Told when the block is taken away.
    gone: Condvar,
}

#[derive(Debug)]
struct View {
    board: Board,
    block: Block,
    terminal: Terminal,
    /// Since when the block is shown, while it is.
    since: Option<Instant>,
    /// How long earlier blocks of this run were shown.
    shown: Duration,
}

impl Live {
    pub fn new(stacks: usize, terminal: Terminal) -> Self {
        let (board, block) = (Board::new(stacks), Block::default());
        let view = Mutex::new(View { board, block, terminal, since: None, shown: Duration::ZERO });
        Self { shared: Arc::new(Shared { view, gone: Condvar::new() }), ticker: None }
    }

    /// Says what a stack does now, and shows the block if it was away.
    pub fn set_doing(&mut self, stack: &StackId, doing: String) {
        let mut view = self.shared.view();
        let now = view.now();
        view.board.set_doing(stack, doing, now);
        if view.since.is_none() {
            view.since = Some(Instant::now());
            drop(view);
            let shared = Arc::clone(&self.shared);
            self.ticker = Some(std::thread::spawn(move || shared.tick()));
        }
    }

    pub fn rest(&self, stack: &StackId) {
        self.shared.view().board.rest(stack);
    }

    pub fn finish(&self, stack: &StackId, result: StackResult) {
        self.shared.view().board.finish(stack, result);
    }

    /// Writes something that stays, above the block.
    pub fn above(&self, write: impl FnOnce()) {
        let mut view = self.shared.view();
        view.erase();
        write();
        view.draw();
    }

    /// Takes the block away until a stack does something again.
    pub fn pause(&mut self) {
        let mut view = self.shared.view();
        view.erase();
        view.shown = view.now();
        view.since = None;
        drop(view);
        self.shared.gone.notify_all();
        if let Some(ticker) = self.ticker.take() {
            // One that panicked draws no more, which is all that is wanted.
            let _ = ticker.join();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.pause();
    }
}

impl Shared {
    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut view = self.view();
        while view.since.is_some() {
            view.draw();
            let waited = self.gone.wait_timeout(view, TICK);
            view = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl View {
    /// Returns how long the view was shown by now.
    fn now(&self) -> Duration {
        self.shown + self.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn size(&self) -> Size {
        let (rows, columns) = self.terminal.size();
        Size { rows, columns }
    }

    fn draw(&mut self) {
        if self.since.is_some() {
            let (now, size) = (self.now(), self.size());
            let lines = self.board.lines(spinner_at(now), now, size);
            self.terminal.draw(&self.block.draw(&lines, size));
        }
    }

    fn erase(&mut self) {
        if self.since.is_some() {
            let size = self.size();
            self.terminal.draw(&self.block.erase(size));
        }
    }
}

fn spinner_at(elapsed: Duration) -> &'static str {
    const SIGNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let tick = elapsed.as_millis() / TICK.as_millis();
    SIGNS[usize::try_from(tick % 10).unwrap_or(0)]
}
