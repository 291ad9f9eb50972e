//! The project around the working folder as commands need it: its stacks, the choice among them,
//! sessions over them. Begin at [`Workspace::load_for`].

mod first_stacks;
mod load;
mod project_root;
mod readable_states;
mod removed_stacks;
mod undeclared_workspaces;

pub(super) use load::{Purpose, Workspace};
pub(super) use project_root::root_of;
pub(super) use readable_states::Sound;
pub(super) use removed_stacks::{tell_lost, warn_of_removed};
