//! What people and machines see: the only module that writes to the terminal.
//!
//! Reports consume [`RunEvent`](crate::events::RunEvent)s: [`Console`] for people,
//! [`JsonLines`] for machines, [`RunRecord`] for later. [`listen`] feeds them and puts
//! the engine's questions to the person at the keyboard.

mod attribute_lines;
mod block;
mod board;
mod causes;
mod console;
mod details;
mod differences;
mod durations;
mod essence;
mod failure;
mod fit;
mod folding;
mod harmless;
mod history;
mod json_lines;
mod listen;
mod live;
mod markdown;
mod next_steps;
mod passed;
mod plan_screen;
mod plan_text;
mod progress;
mod prompt;
mod renamed_runs;
mod run_record;
mod scope;
mod summary;
mod table;
mod terminal;
mod voices;
mod warnings;

pub use console::{Console, PlanOutput};
pub use details::Details;
pub use durations::read_durations;
pub use failure::show_error;
pub use fit::{padded, shortened, text_width};
pub use history::{PastRun, Undone, left_undone};
pub use json_lines::JsonLines;
pub use listen::{Asking, Report, listen};
pub use markdown::MarkdownSummary;
pub use passed::Passed;
pub use progress::InstallProgress;
pub use prompt::{confirm, passphrase_prompt};
pub use renamed_runs::rename_in_runs;
pub use run_record::{Begun, RunRecord, Unfinished};
pub use scope::Scope;
pub use summary::show_report;
pub use table::Table;
pub use terminal::{ColorChoice, Terminal, Tone, Verbosity};
