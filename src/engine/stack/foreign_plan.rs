//! Saved plans that this user did not make: whether they count, and what they really do.

use super::life::{Planned, Reviewed, StackLife};
use crate::engine::calls::Stop;
use crate::engine::plan::{PlanRecord, Provenance, SavedPlans, changes_in, read_plan};
use crate::model::quoted;

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
        self.session.tell_once(
            Some(id),
            message,
            vec![format!("save one of your own: `infra plan {}`", quoted(id.as_str()))],
        );
    }

    /// Shows what the plan of somebody else does; its record may say anything.
    pub async fn show_foreign(self, plans: SavedPlans, record: PlanRecord) -> Result<Planned, Stop> {
        let id = &self.run.stack.id;
        let path = plans.plan_path(id);
        let shown = read_plan(self.session, id, self.call_reading(&path).await?, &path).await?;
        let (changes, outputs_changed) = changes_in(&shown, &self.session.mask());
        let text = self.text_of(&plans).await?;
        let mut record = PlanRecord { changes, outputs_changed, ..record };
        let details = self.look_into(&mut record, Some(shown), &path).await;
        self.tell_planned(&record, (text, &details), Reviewed::Yes);
        Ok(Planned { record, details, plans, reviewed: false, foreign: true, shown_before: None })
    }
}
