//! How far a template may go: steps, the size of a text and of all that it writes.
//!
//! Far above what any repository needs, far below what would fill a machine.

/// How many instructions one template may take.
pub const MAX_STEPS: u64 = 5_000_000;

/// How many bytes one text, or the output of one template, may have.
pub const MAX_TEXT: usize = 32 << 20;

/// How many bytes one template may write in all, captured blocks included.
pub const MAX_WRITTEN: usize = 512 << 20;

/// How many bytes a template, or a file that a function reads, may have.
pub const MAX_FILE: u64 = 32 << 20;
