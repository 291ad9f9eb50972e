//! Taking up a saved plan: as it is, or what is made in its place.
//!
//! Where the saved plans themselves were reviewed and nothing else is wanted (`--saved`), one
//! that does not fit is refused; in every other run that is told, and the stack is planned again.

use serde_json::Value;

use super::life::{Planned, Reviewed, StackLife};
use crate::engine::bundle::BundleUse;
use crate::engine::calls::{Stop, successful};
use crate::engine::plan::{PlanRecord, SavedPlans, Verdict, stale, untrusted};
use crate::engine::run::Approval;
use crate::engine::variables::giving_variables;
use crate::error::Result;
use crate::model::{ChangeDetail, Safe, quoted};
use crate::tofu::call;
use crate::tofu::call::PlanMode;

/// What there is of a stack in the folder of saved plans.
pub enum FoundPlan {
    /// A plan that this user made, or trusts.
    Own(Box<PlanRecord>),
    /// A plan of somebody else, about whom a person is to be asked.
    Foreign(Box<PlanRecord>),
    /// None, or one that does not count, for this reason.
    Nothing(Option<&'static str>),
}

impl StackLife<'_> {
    /// Returns whether nothing but saved plans is applied.
    pub fn is_strict(self) -> bool {
        self.options.approval == Approval::Saved
    }

    /// Finds the plan of the stack and says whether it counts.
    pub fn find_saved(self, saved: &SavedPlans) -> Result<FoundPlan> {
        let id = &self.run.stack.id;
        let record = match saved.load(id) {
            Err(error) if self.is_strict() => return Err(error.hint(self.way_to_plans(None))),
            Err(error) => {
                self.tell_stale(error.message());
                None
            }
            Ok(record) => record,
        };
        let Some(record) = record else { return Ok(FoundPlan::Nothing(None)) };
        match self.provenance(saved).verdict(&record, &self.run.stack) {
            Verdict::Take => Ok(FoundPlan::Own(Box::new(record))),
            Verdict::Ask if self.options.has_person => Ok(FoundPlan::Foreign(Box::new(record))),
            Verdict::Ask | Verdict::Refuse => {
                Err(untrusted(id, saved).hint(self.way_to_plans(Some(&record))))
            }
            Verdict::Ignore(why) => Ok(FoundPlan::Nothing(Some(why))),
        }
    }

    /// Takes a plan that still fits exactly as it is.
    pub(super) async fn take(self, saved: SavedPlans, mut record: PlanRecord) -> Result<Planned, Stop> {
        // One that was asked for a part of the stack says nothing about the rest.
        if record.is_empty() && self.asks_for_more_than(&record) && !self.is_strict() {
            return self.plan_privately().await;
        }
        let plan = self.hide_old_values_of(&saved, &record).await?;
        let details = self.look_into_saved(&saved, &mut record, plan).await;
        let text = match self.options.whole_plans && !record.is_empty() {
            true => self.text_of(&saved).await?,
            false => Vec::new(),
        };
        self.tell_planned(&record, (text, &details), Reviewed::Yes);
        Ok(Planned { record, details, plans: saved, reviewed: true, foreign: false, shown_before: None })
    }

    /// Returns what a saved plan changes in each resource, where that is shown; the causes of a
    /// replacement were recorded when it was made.
    async fn look_into_saved(
        self,
        saved: &SavedPlans,
        record: &mut PlanRecord,
        plan: Option<Value>,
    ) -> Vec<ChangeDetail> {
        match self.options.attributes {
            true => self.look_into(record, plan, &saved.plan_path(&self.run.stack.id)).await,
            false => Vec::new(),
        }
    }

    /// Refuses a plan that does not fit any more, or tells that and plans again.
    pub(super) async fn replace(self, record: &PlanRecord, reason: &str) -> Result<Planned, Stop> {
        if self.is_strict() {
            let error = stale(&self.run.stack.id, reason);
            return Err(error.hint(self.way_to_plans(Some(record))).into());
        }
        // One that said nothing promised nothing; one for another purpose is no matter of `destroy`.
        let other_purpose = self.options.mode == PlanMode::Destroy && !self.is_of_the_kind(record);
        if !record.is_empty() && !other_purpose {
            self.tell_stale(reason);
        }
        self.plan_privately().await
    }

    fn tell_stale(self, reason: &str) {
        let message = format!("its saved plan is not taken, and it is planned again: {reason}");
        self.session.tell_once(Some(&self.run.stack.id), message, Vec::new());
    }

    /// Says how to come by a plan that can be applied: in the folder that was named, with what it was
    /// made with.
    pub fn way_to_plans(self, record: Option<&PlanRecord>) -> String {
        let (id, plans) = (quoted(self.run.stack.id.as_str()), &self.options.plans_dir);
        if let BundleUse::Apply(bundles) = &self.options.bundle {
            let file = bundles.typed_of(&self.run.stack.id).unwrap_or_default();
            return format!("plan again: `infra plan {id} --bundle {}`", quoted(file));
        }
        let dir = (*plans != self.session.project.plans_dir())
            .then(|| format!(" --out-dir {}", quoted(&plans.display().to_string())));
        let extra = record.map_or(&[][..], |record| &record.extra);
        // Values of variables may be secret; whoever gave them gives them again.
        let told = !extra.is_empty() && giving_variables(extra).is_empty();
        let extra =
            told.then(|| extra.iter().fold(" --".to_owned(), |all, arg| format!("{all} {}", quoted(arg))));
        format!("plan again: `infra plan {id}{}{}`", dir.unwrap_or_default(), extra.unwrap_or_default())
    }

    /// Returns a plan as tofu writes it for people.
    pub async fn text_of(self, plans: &SavedPlans) -> Result<Vec<Safe>> {
        let (id, path) = (&self.run.stack.id, plans.plan_path(&self.run.stack.id));
        let call = call::show(self.call_reading(&path).await?, Some(&path));
        let shown = successful(self.session, id, call).await?;
        Ok(shown.stdout.safe_lines(&self.session.mask()))
    }
}
