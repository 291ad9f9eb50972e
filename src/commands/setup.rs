//! The commands on the way from nothing to a project that runs: a folder, its stacks, its
//! generated files, its tofu.

mod configure;
mod deps;
mod new;
mod new_stack;

pub use configure::{ConfigureArgs, run as configure};
pub use deps::{DepsArgs, run as deps};
pub use new::{NewArgs, run as new};
pub use new_stack::{NewStackArgs, run as new_stack};

pub(super) use configure::{Look, bring_up_to_date, data_warnings, edited_since, has_templates, look};
pub(super) use new::free_name;
