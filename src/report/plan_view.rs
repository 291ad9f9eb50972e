//! The changes of a plan as lines for people: attributes as old → new, folded to what fits a screen.

mod attribute_lines;
mod details;
mod differences;
mod folding;
mod plan_screen;
mod plan_text;

pub use details::Details;
pub use differences::difference_lines;
pub use plan_screen::{Listed, PlanScreen};
pub use plan_text::{Listing, visible, whole};
