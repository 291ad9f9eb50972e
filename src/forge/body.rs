//! What is said, as Markdown: pure functions of what runs have recorded.
//!
//! All text of others stands in fences or between backticks, where no forge obeys it: a line that
//! begins with `/close`, `@name` and `#12` are only letters there.

mod comment;
mod drift;
mod folds;
mod rows;
mod text;
mod told;

pub use comment::PlanComment;
pub use drift::{DriftIssue, DriftedStack};
pub use told::{PlannedStack, PlanningRun};

/// A text for a forge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Body {
    /// The Markdown.
    pub text: String,
    /// Whether something of it had to be left out.
    pub is_cut: bool,
}
