//! The generated tree on the disk: compared with what is there, and written as a whole.

mod changes;
mod diff;
mod folders;
mod manifest;
mod recorded;
mod removal;
mod tree_lock;
mod write;

pub use changes::{
    Conflict, ConflictReason, FileChange, Overwrite, TreeChanges, TreeComparison, compare_tree,
};
pub use diff::{is_secret_file, unified_diff};
pub use manifest::Manifest;
pub use recorded::recorded_files;
pub use removal::{Removal, RemovedFile};
pub use tree_lock::TreeLock;
pub use write::{TreePlace, write_tree};
