//! Single tofu calls that are no run: outputs, texts, formatting, and the way through to tofu itself.

mod formatting;
mod pass_through;
mod raw_states;
mod reading;
mod showing;

pub use formatting::{Formatted, format_files};
pub use pass_through::{pass_through, unopened_for};
pub use raw_states::read_states;
pub use reading::{read_addresses, read_outputs, read_text, release_foreign_lock};
pub use showing::{Sensitive, read_document, read_everything};
