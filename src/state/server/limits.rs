//! How large the bodies of requests may be, and how long clients may take.

use std::time::Duration;

/// How large bodies may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// A state.
    pub state: usize,
    /// A LockInfo.
    pub lock: usize,
    /// All states that are on their way into the store together; others wait for their turn.
    pub together: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { state: 256 * 1024 * 1024, lock: 64 * 1024, together: 256 * 1024 * 1024 }
    }
}

/// How long clients may take.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimits {
    /// To send a whole head, and between two requests; `None` is for ever.
    pub head: Option<Duration>,
    /// To send or take anything at all, in the middle of a body.
    pub stall: Duration,
    /// To agree on encryption.
    pub handshake: Duration,
    /// To wait for memory for a body while others use it all; then they are told to come again.
    pub memory: Duration,
}

impl Default for TimeLimits {
    fn default() -> Self {
        Self {
            head: None,
            stall: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            memory: Duration::from_secs(120),
        }
    }
}

impl TimeLimits {
    /// Returns the limits for clients that this program did not start.
    pub const fn for_unknown_clients() -> Self {
        Self {
            head: Some(Duration::from_secs(15)),
            stall: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            memory: Duration::from_secs(120),
        }
    }
}
