//! The commands that look and change nothing: stacks, runs, outputs, plans and states, the machine.

mod doctor;
mod output;
mod runs;
mod show;
mod stacks;

pub use doctor::{DoctorArgs, run as doctor};
pub use output::{OutputArgs, run as output};
pub use runs::{RunsArgs, run as runs};
pub use show::{ShowArgs, run as show};
pub use stacks::{StacksArgs, run as stacks};
