//! The project around the working folder as commands need it: its stacks, the choice among them,
//! sessions over them. Begin at [`LoadedProject::load_for`].

mod choice;
mod first_stacks;
mod keys;
mod load;
mod project_root;
mod readable_states;
mod removed_stacks;
mod secrets;
mod session;
mod tofu_binary;
mod undeclared_workspaces;

pub(super) use load::LoadedProject;
pub(super) use project_root::root_of;
pub(super) use readable_states::ReadableStates;
pub(super) use removed_stacks::{tell_lost, warn_of_removed};
pub(super) use session::Purpose;
pub(super) use tofu_binary::{installed_tofu, search_tofu, tofu_request};
