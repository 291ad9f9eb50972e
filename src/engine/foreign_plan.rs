//! Saved plans that this user did not make: whether they count, and what they really do.

use super::failure::Stop;
use super::inspect::successful;
use super::options::StalePlans;
use super::plan_changes::changes_in;
use super::plan_json::read_plan;
use super::provenance::Provenance;
use super::saved_plan::{PlanRecord, SavedPlans, stale};
use super::stack_life::{Planned, Reviewed, ShownPlan, StackLife, Upstream};
use super::staleness::{OTHER_VALUES, Staleness};
use crate::tofu::call;

impl<'a> StackLife<'a> {
    /// Returns what is known about where saved plans come from.
    pub fn provenance<'b>(self, plans: &'b SavedPlans) -> Provenance<'b>
    where
        'a: 'b,
    {
        let session = self.session;
        let key = session.plan_keys.user().ok();
        Provenance { project: &session.project, plans, key, trusted: self.options.trusted }
    }

    pub fn tell_ignored(self, why: &str) {
        let id = &self.run.stack.id;
        let message = format!("its saved plan is not taken, and it is planned anew: {why}");
        self.session.tell_once(Some(id), message, vec![format!("save one of your own: `infra plan {id}`")]);
    }

    /// Shows what the plan of somebody else does; its record may say anything.
    pub async fn show_foreign(
        self,
        plans: SavedPlans,
        record: PlanRecord,
        staleness: Staleness,
        upstream: Upstream,
    ) -> Result<Planned, Stop> {
        let id = &self.run.stack.id;
        match staleness {
            Staleness::Fresh => {}
            _ if self.options.stale == StalePlans::Replan => return self.plan_privately().await,
            // Somebody saw it and said yes; what is made in its place is compared with it.
            Staleness::Inputs if upstream == Upstream::Applied => {
                let shown_before = Some(ShownPlan { record, plans });
                return Ok(Planned { shown_before, ..self.plan_privately().await? });
            }
            Staleness::Inputs => return Err(stale(id, OTHER_VALUES).into()),
            Staleness::Other(reason) => return Err(stale(id, &reason).into()),
        }
        let path = plans.plan_path(id);
        let shown = read_plan(self.session, id, self.call_reading(&path)?, &path).await?;
        let (changes, outputs_changed) = changes_in(&shown, &self.session.mask());
        let text = call::show(self.call_reading(&path)?, Some(&path));
        let text = successful(self.session, id, text).await?.stdout.safe_lines(&self.session.mask());
        let record = PlanRecord { changes, outputs_changed, ..record };
        self.tell_planned(&record, text, Reviewed::Yes);
        Ok(Planned { record, plans, reviewed: false, foreign: true, shown_before: None })
    }
}
