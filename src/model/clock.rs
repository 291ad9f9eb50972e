//! The clock, handed in from `main` so that nothing else asks the system for the time.

use jiff::Timestamp;

/// Tells the time.
#[derive(Clone, Copy, Debug)]
pub struct Clock(fn() -> Timestamp);

impl Clock {
    /// Makes a clock of a function.
    pub const fn new(now: fn() -> Timestamp) -> Self {
        Self(now)
    }

    /// Returns the present time.
    pub fn now(self) -> Timestamp {
        (self.0)()
    }
}
