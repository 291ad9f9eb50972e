//! The end of a run: the table of results, common causes told once, and what to do next.

mod bundle_steps;
mod causes;
mod comparable_error;
mod next_steps;
mod passed;
mod scope;
mod stack_choice;
mod summary;
mod warnings;

pub use causes::{CauseDetail, Causes, SharedCause, shared_causes};
pub use next_steps::next_steps;
pub use passed::PassedArguments;
pub use scope::Scope;
pub use summary::{
    OmittedStacks, count_columns, count_line, is_quiet, result_sign, result_table, result_tone, result_words,
    show_report,
};
pub use warnings::Warnings;
