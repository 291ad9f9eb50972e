//! Two programs measured in turns, so that whatever else the machine does falls on both alike.

use std::process::Command;
use std::time::{Duration, Instant};

/// How often everything is measured.
pub const ROUNDS: usize = 31;

/// The medians of two programs that were run in turns.
pub struct Pair {
    /// What `infra` took.
    pub ours: Duration,
    /// What the other program took.
    pub theirs: Duration,
}

impl Pair {
    /// Runs both once to warm up, then in turns.
    pub fn measure(ours: impl Fn() -> Command, theirs: impl Fn() -> Command) -> Self {
        finish(ours());
        finish(theirs());
        let rounds: Vec<_> = (0..ROUNDS).map(|_| (timed(ours()), timed(theirs()))).collect();
        let (ours, theirs): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        Self { ours: median(ours), theirs: median(theirs) }
    }

    /// Returns our time as a part of theirs.
    pub fn ratio(&self) -> f64 {
        self.ours.as_secs_f64() / self.theirs.as_secs_f64()
    }
}

/// Runs a program that must succeed.
pub fn finish(mut command: Command) {
    assert!(command.status().unwrap().success(), "{command:?}");
}

/// Returns a time as people read it.
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

fn timed(command: Command) -> Duration {
    let start = Instant::now();
    finish(command);
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
