//! Plans as data: what they change, what of it may be shown, and how they lie on the disk.

mod attribute_diff;
mod document_mask;
mod fed_attributes;
mod old_values;
mod plan_attributes;
mod plan_changes;
mod plan_diff;
mod plan_json;
mod plan_secrets;
mod plan_value;
mod provenance;
mod saved_plan;

pub(super) use document_mask::mask_document;
pub(super) use old_values::{hide_old_values, hide_old_values_in};
pub(super) use plan_attributes::details_in;
pub(super) use plan_changes::{changes_in, complete};
pub(super) use plan_diff::{differences, left_out};
pub(super) use plan_json::read_plan;
pub use provenance::{Provenance, Verdict};
pub(super) use provenance::{prove, untrusted};
pub(super) use saved_plan::stale;
pub use saved_plan::{PlanRecord, SavedPlans, SealedGiven};
