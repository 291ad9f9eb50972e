//! The commands of a team that reviews changes: what a change affects, whether it is sound, what it would do,
//! told where people review; workflows of forges, and what other tools need of it.

mod changed;
mod ci;
mod comment;
mod forge_args;
mod inventory;
mod lint;

pub use changed::{ChangedArgs, run as changed};
pub use ci::{CiArgs, run as ci};
pub(super) use ci::{Forge, Layout, Rendering, WorkflowFile, workflows};
pub use comment::{CommentArgs, run as comment};
pub(super) use forge_args::ForgeArgs;
pub use inventory::{InventoryArgs, run as inventory};
pub use lint::{LintArgs, run as lint};
