//! Small rules about texts: counts, durations, the order of names, shell words, similar names.

mod counted;
mod deceptive;
mod duration;
mod natural;
mod nearest;
mod shell;

pub use counted::counted;
pub use deceptive::{in_plain_sight, is_zero_width, turns_text};
pub use duration::human_duration;
pub use natural::natural_key;
pub use nearest::{distance, nearest, tolerance};
pub use shell::quoted;
