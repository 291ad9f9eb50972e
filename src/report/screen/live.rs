//! The live view on a terminal: one block of lines that is drawn again and again below
//! everything that stays.
//!
//! What is drawn is decided by the [`Picture`] at the moment of drawing, so that a terminal
//! that changes its size is served at the next tick. A thread ticks while the block is
//! shown; it draws and does nothing else.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::block::{Block, Size};
use super::terminal::Terminal;

const TICK: Duration = Duration::from_millis(120);

/// What is shown, as lines for a moment and a size.
pub trait Picture: Send + 'static {
    /// Returns the lines for this moment; none is wider than the size.
    fn lines(&self, spinner: &str, now: Duration, size: Size) -> Vec<String>;
}

/// The block of lines, while there is something to show.
#[derive(Debug)]
pub struct Live<P: Picture> {
    shared: Arc<Shared<P>>,
    ticker: Option<JoinHandle<()>>,
}

/// What the ticking thread shares.
#[derive(Debug)]
struct Shared<P> {
    view: Mutex<View<P>>,
    /// Told when the block is taken away.
    gone: Condvar,
}

#[derive(Debug)]
struct View<P> {
    picture: P,
    block: Block,
    terminal: Terminal,
    /// Since when the block is shown, while it is.
    since: Option<Instant>,
    /// How long earlier blocks of this run were shown.
    shown: Duration,
}

impl<P: Picture> Live<P> {
    /// Shows nothing until the picture changes.
    pub fn new(picture: P, terminal: Terminal) -> Self {
        let block = Block::default();
        let view = Mutex::new(View { picture, block, terminal, since: None, shown: Duration::ZERO });
        Self { shared: Arc::new(Shared { view, gone: Condvar::new() }), ticker: None }
    }

    /// Changes the picture, and shows the block if it was away.
    pub fn show(&mut self, change: impl FnOnce(&mut P, Duration)) {
        let mut view = self.shared.view();
        let now = view.now();
        change(&mut view.picture, now);
        if view.since.is_none() {
            view.since = Some(Instant::now());
            drop(view);
            let shared = Arc::clone(&self.shared);
            self.ticker = Some(std::thread::spawn(move || shared.tick()));
        }
    }

    /// Changes the picture; a block that is away stays away.
    pub fn change(&self, change: impl FnOnce(&mut P)) {
        change(&mut self.shared.view().picture);
    }

    /// Writes something that stays, above the block.
    pub fn above(&self, write: impl FnOnce()) {
        let mut view = self.shared.view();
        view.erase();
        write();
        view.draw();
    }

    /// Takes the block away until something is shown again.
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

impl<P: Picture> Drop for Live<P> {
    fn drop(&mut self) {
        self.pause();
    }
}

impl<P: Picture> Shared<P> {
    fn view(&self) -> MutexGuard<'_, View<P>> {
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

impl<P: Picture> View<P> {
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
            let lines = self.picture.lines(spinner_at(now), now, size);
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
