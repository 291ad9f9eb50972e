//! The terminal as a value, and what fits on it: widths, tables, escaped text, questions.

mod escape;
mod fit;
mod install_progress;
mod prompt;
mod table;
mod terminal;

pub use escape::harmless;
pub use fit::{padded, shortened, text_width, wrap};
pub use install_progress::InstallProgress;
pub use prompt::{Asking, ask, confirm, passphrase_prompt};
pub use table::Table;
pub use terminal::{ColorChoice, Terminal, Tone, Verbosity};
