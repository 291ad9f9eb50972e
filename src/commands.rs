//! The commands in rooms by theme, one file a command: its arguments, whose doc comments are the
//! help, and one function that reads as the data flow.
//!
//! | room | what is in it |
//! |---|---|
//! | `run` | tofu over stacks: `init` `plan` `apply` … and the run from request to exit code, which they share |
//! | `inspect` | what is there: `stacks` `runs` `output` `show` `doctor` |
//! | `state` | states and their locks: `state …` `locks` `force-unlock` |
//! | `secrets` | encrypted files: `secrets …` |
//! | `setup` | from nothing to a project: `new` `new-stack` `configure` `deps` |
//! | `gitops` | what changes and who reviews it: `comment` `inventory` `ci` |
//! | `trust` | `trust`, and the question that other commands ask before they run what a project brings |
//! | `tools` | about the program: `completions` `man` `schema` `help` |
//! | `habits` | what to type instead, for lines of other tools |
//!
//! What several commands need has a room as well: `args` (arguments), `loaded_project` (the project
//! with its stacks, and sessions over them), [`Context`] (what every command is given).

mod args;
mod context;
mod generated_files;
mod gitops;
mod habits;
mod inspect;
mod loaded_project;
mod run;
mod secrets;
mod setup;
mod state;
mod tools;
mod trust;

pub use context::Context;
use context::{program, shell_folder, works_here};
pub use gitops::{
    ChangedArgs, CiArgs, CommentArgs, InventoryArgs, LintArgs, changed, ci, comment, inventory, lint,
};
pub use habits::correction;
pub use inspect::{
    DoctorArgs, OutputArgs, RunsArgs, ShowArgs, StacksArgs, doctor, output, runs, show, stacks,
};
pub use run::{
    ApplyArgs, DestroyArgs, DriftArgs, FmtArgs, InitArgs, PlanArgs, TestArgs, TofuArgs, UpArgs, ValidateArgs,
    apply, destroy, drift, fmt, init, plan, test, tofu, up, validate,
};
pub use secrets::{SecretsArgs, run as secrets};
pub use setup::{ConfigureArgs, DepsArgs, NewArgs, NewStackArgs, configure, deps, new, new_stack};
pub use state::{ForceUnlockArgs, LocksArgs, StateArgs, force_unlock, locks, run as state};
pub use tools::{
    COMPLETE, CompletionsArgs, HelpArgs, ManArgs, SchemaArgs, completions, help, is_plan_key, man, plan_key,
    schema,
};
pub use trust::{TrustArgs, run as trust};
