//! What people and machines see: the only module that writes to the terminal.
//!
//! Reports consume [`RunEvent`](crate::events::RunEvent)s: [`Console`] for people,
//! [`JsonLines`] for machines, [`RunRecord`] for later. [`listen`] feeds them and puts
//! the engine's questions to the person at the keyboard.

mod console;
mod ending;
mod failure;
mod json_lines;
mod listen;
mod markdown;
mod plan_view;
mod record;
mod screen;

pub use console::{Console, PlanOutput};
pub use ending::{PassedArguments, Scope, show_report};
pub use failure::show_error;
pub use json_lines::JsonLines;
pub use listen::{Report, listen};
pub use markdown::MarkdownSummary;
pub use plan_view::Details;
pub use record::{
    Begun, PastRun, RecordedPlans, ResumeRequest, Resumption, RunRecord, Unfinished, read_durations,
    rename_in_runs, resumption,
};
pub use screen::{
    Asking, ColorChoice, InstallProgress, Table, Terminal, Tone, Verbosity, confirm, padded,
    passphrase_prompt, shortened, text_width,
};
