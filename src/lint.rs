//! Judges the files of a project by the rules of the house: where modules come from, what is pinned,
//! what is described, and that no secret stands in the clear. Reads files and writes none; what would
//! mend a finding is handed back as text. Begin at [`judge`].

mod files;
mod finding;
mod folder;
mod judge;
mod mending;
mod plaintext;
mod rule_texts;
mod rules;
mod surroundings;
mod tree;

pub use finding::{Finding, FindingPlace};
pub use judge::{Judgement, Request, judge};
pub use mending::Mending;
pub use rule_texts::{RuleText, text_of};
pub use surroundings::{IgnoredPaths, Surroundings};
