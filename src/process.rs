//! Starting other programs: own process groups, signals forwarded exactly once,
//! pipes that hand over data without a file.
//!
//! The only place that starts a process; it knows nothing of tofu. An [`Invocation`]
//! is a value that says what to run; [`run`] streams its lines, [`capture`] collects
//! its output, [`passthrough`] lends it the terminal. What a child writes is [`Raw`].

mod child;
mod child_note;
mod executable;
mod git;
mod interrupts;
mod invocation;
mod lines;
mod liveness;
mod machine;
mod memory;
mod random;
mod raw;
mod suspension;
mod watchdog;

pub use child::{Captured, Stream, capture, passthrough, run};
pub use child_note::ChildNote;
pub use executable::is_executable;
pub use git::{Difference, FileKind, Git, GitStatus, RecordedFile, TrackedFile};
pub use interrupts::Interrupts;
pub use invocation::Invocation;
pub use liveness::{
    holder_here, holder_is_alive, hostname, is_alive, may_live, started_at, this_holder, this_process,
    this_program,
};
pub use machine::bearable_parallelism;
pub use memory::{available_memory, keep_freed_memory};
pub use random::{fill_random, random_bytes};
pub use raw::Raw;
