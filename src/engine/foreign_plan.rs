//! Saved plans that this user did not make: whether they count, and what they really do.

use super::failure::Stop;
use super::inspect::successful;
use super::options::StalePlans;
use super::plan_changes::changes_in;
use super::provenance::Provenance;
use super::saved_plan::{PlanRecord, SavedPlans, stale};
use super::stack_life::{OTHER_VALUES, Planned, Reviewed, StackLife, Staleness};
use crate::error::Error;
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
    ) -> Result<Planned, Stop> {
        let id = &self.run.stack.id;
        match staleness {
            Staleness::Fresh => {}
            _ if self.options.stale == StalePlans::Replan => return self.plan_privately().await,
            Staleness::Inputs => return Err(stale(id, OTHER_VALUES).into()),
            Staleness::Other(reason) => return Err(stale(id, &reason).into()),
        }
        let path = plans.plan_path(id);
        let base = || self.session.call_reading_plan(&self.run.stack, &self.run.env, &path);
        let shown = successful(self.session, id, call::show_json(base()?, &path)).await?;
        let shown = serde_json::from_slice(&shown.stdout)
            .map_err(|error| Error::failed(format!("the plan of `{id}` cannot be read")).because(error))?;
        let (changes, outputs_changed) = changes_in(&shown);
        let text = successful(self.session, id, call::show(base()?, Some(&path))).await?;
        let text = String::from_utf8_lossy(&text.stdout);
        let text = text.lines().map(|line| self.session.redacted(line)).collect();
        let record = PlanRecord { changes, outputs_changed, ..record };
        self.tell_planned(&record, text, Reviewed::Yes);
        Ok(Planned { record, plans, reviewed: false, foreign: true, shown_before: None })
    }
}
