//! Arguments that several commands take: which stacks, which variables, how much is shown.

mod detail_args;
mod headings;
mod stack_args;
mod var_args;

pub(super) use detail_args::DetailArgs;
pub(super) use headings::{OUTPUT, RUNNING, SAVED_PLANS};
pub(super) use stack_args::{StackArgs, stack_names, workspace_names};
pub(super) use var_args::VarArgs;
