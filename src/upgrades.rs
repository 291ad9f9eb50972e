//! Newer releases of what a project requires: what its files ask for, what a bump would touch, and the edit
//! of a constraint in its place. Asks nobody itself. Begin at [`Survey::of`], then [`judge`] and [`plan_edits`].

mod bump;
mod constraint;
mod edits;
mod entries;
mod judgement;
mod lock_file;
mod requirements;
mod source_file;
mod survey;
mod write;

pub use constraint::{Constraint, Rules};
pub use edits::{Bounds, Edit, Edits, Left, Level, plan_edits};
pub use judgement::{Judgement, Step, Way, candidates, judge};
pub use requirements::{Requirement, RequirementPlace, Wanted};
pub use survey::{Survey, Use};
pub use write::write;
