//! One file a command: its arguments, whose doc comments are the help, and one function
//! that reads as the data flow.
//!
//! Commands resolve, check, begin, act and report; what several of them need has a noun
//! and a file: [`workspace`] (the loaded project), [`stack_args`] (choosing stacks),
//! [`stack_run`] (a run from plan to report).

use std::path::PathBuf;

use crate::model::{Clock, Environment};
use crate::process::Interrupts;
use crate::report::{Asking, Terminal};
use crate::trust::TrustWord;

mod again;
pub mod apply;
mod begin;
mod beginnings;
mod borrowed_folder;
mod bundles;
mod choice;
pub mod completions;
pub mod configure;
pub mod deps;
pub mod destroy;
mod detail_args;
pub mod doctor;
pub mod drift;
pub mod fmt;
pub mod force_unlock;
mod generated;
pub mod habits;
mod headings;
pub mod help;
pub mod init;
mod left_out;
pub mod locks;
pub mod man;
pub mod new;
pub mod new_stack;
pub mod output;
pub mod plan;
pub mod plan_key;
mod prepared;
mod protected;
mod removed;
mod renamed;
pub mod request;
mod resume;
mod run_reports;
mod run_warnings;
pub mod runs;
pub mod schema;
pub mod secrets;
pub mod show;
pub mod stack_args;
pub mod stack_run;
pub mod stacks;
mod standing;
pub mod state;
pub mod test;
pub mod tofu;
pub mod trust;
mod undeclared;
pub mod up;
pub mod validate;
mod var_args;
mod way_to_stacks;
pub mod workspace;

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// The command, as it is typed: `plan`, `state list`.
    pub command: String,
    /// The environment this program was started with.
    pub env: Environment,
    /// The clock.
    pub clock: Clock,
    /// The folder to work in.
    pub cwd: PathBuf,
    /// Where to write.
    pub terminal: Terminal,
    /// Whether questions are forbidden.
    pub no_input: bool,
    /// What the caller said about trust beforehand.
    pub trust: TrustWord,
    /// The requests to stop.
    pub interrupts: Interrupts,
}

impl Context {
    /// Returns who can be asked.
    pub const fn asking(&self) -> Asking {
        if self.terminal.has_person() && !self.no_input {
            Asking::Person(self.terminal)
        } else {
            Asking::Nobody
        }
    }
}
