//! The files of a folder as OpenTofu reads them, and the facts in them: blocks, modules, addresses.

mod addresses;
mod early;
mod facts;
mod folder;
mod hcl;
mod json;
mod modules;
mod reading;
mod references;
mod source_template;
mod tofu_files;
mod tree;
mod walk;

pub use addresses::{addresses_in, is_among};
pub use early::EarlyVariables;
pub use facts::{BackendBlock, Facts, RemoteState};
pub use folder::Folder;
pub use modules::{Library, ReadFolder};
pub use reading::{Wanted, read_folder};
pub use tofu_files::{in_reading_order, is_override};
pub use tree::{Disk, Entries, EntryKind, Tree};
pub use walk::{Boundaries, Walk, walk, walk_outside};
