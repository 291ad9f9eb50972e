//! The generated tree on the disk: compared with what is there, and written as a whole.

pub mod changes;
pub mod diff;
mod folders;
pub mod manifest;
mod recorded;
pub mod removal;
mod turn;
pub mod write;

pub use recorded::recorded_files;
pub use turn::Turn;
