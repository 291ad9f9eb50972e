//! Plans that travel from the job that made them to the one that applies them: what a bundle holds,
//! and how it is told from what a checkout makes of the same stacks.
//!
//! Pure data; encrypting and files are the caller's. [`BundleMaker`] collects while stacks are planned,
//! [`Bundles`] is what was opened to be applied. Nothing that a bundle says is believed: it is compared
//! by `engine::stack`, and what is applied was planned again.

mod archive;
mod content;
mod plan_parts;
mod sources;
mod use_of_bundles;

pub use content::Bundle;
pub(super) use content::BundledPlan;
pub(super) use plan_parts::PlanParts;
pub(super) use sources::{Sources, SourcesBuilder};
pub(super) use use_of_bundles::OpenedPlan;
pub use use_of_bundles::{BundleMaker, BundleUse, Bundles};
