//! The terminal as a value, and what fits on it: widths, tables, escaped text, questions.

mod block;
mod escape;
mod fit;
mod install_progress;
mod live;
mod prompt;
mod table;
mod terminal;

pub use block::{Size, cut};
pub use escape::escaped_for_terminal;
pub use fit::{padded, shortened, text_width, wrap};
pub use install_progress::InstallProgress;
pub use live::{Live, Picture};
pub use prompt::{Asking, ask, confirm, passphrase_prompt};
pub use table::Table;
pub use terminal::{ColorChoice, Terminal, Tone, Verbosity};
