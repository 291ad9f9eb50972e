//! From what was typed to the chosen stacks: names, paths, workspaces.

mod misses;
mod names;
mod narrow;
mod select;
mod typed_path;
mod workspaces;

pub use misses::is_plan;
pub use names::{Miss, find, find_one, layer_segment, near, shortened};
pub use select::{Selection, narrower, select, select_among};
pub use typed_path::is_path;
pub use workspaces::{ignored_selection, in_workspace, in_workspaces, named_one_by_one, named_stack, run_in};
