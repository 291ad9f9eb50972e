//! The headings under which `--help` lists what several commands take.
//!
//! Each argument names its heading by itself: one for a whole struct would also take in what a command
//! lists after it.

/// Which stacks.
pub const CHOOSING: &str = "Choosing stacks";
/// What is printed, and the exit code.
pub const OUTPUT: &str = "Output";
/// How a run goes about it.
pub const RUNNING: &str = "Running";
/// Where plans are kept, and what becomes of them.
pub const SAVED_PLANS: &str = "Saved plans";
