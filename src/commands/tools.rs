//! The commands about the program itself, and the one by which tofu asks it for keys.

mod completions;
mod help;
mod man;
mod plan_key;
mod schema;

pub use completions::{COMPLETE, CompletionsArgs, run as completions};
pub use help::{HelpArgs, run as help};
pub use man::{ManArgs, run as man};
pub use plan_key::{is_meant as is_plan_key, run as plan_key};
pub use schema::{SchemaArgs, run as schema};
