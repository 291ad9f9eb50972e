//! The state of a renamed stack gets its new name when the stack has its turn in a run that
//! changes things: after the yes, before anything is done.

use super::conductor::Conductor;
use crate::engine::calls::Stop;
use crate::engine::state_check::move_into_workspace;
use crate::engine::state_work::rename_state;
use crate::events::RunEvent;
use crate::model::StackRun;

impl Conductor<'_> {
    /// Gives the state of a stack the name that the stack has now, if it still has a former one; returns
    /// whether it is in another workspace of tofu since, which no plan of before knows.
    pub async fn bring_former_along(&self, run: &StackRun) -> Result<bool, Stop> {
        let id = &run.stack.id;
        let former = self.session.former_names.borrow().get(id).cloned();
        let Some(was) = former.filter(|_| self.plan.command.is_ordered()) else { return Ok(false) };
        let is_elsewhere = run.stack.backend.has_workspaces();
        match is_elsewhere {
            true => move_into_workspace(self.session, &run.stack, &was).await?,
            false => drop(rename_state(self.session, &was, id).await?),
        }
        self.session.events.emit(RunEvent::StateRenamed { stack: id.clone(), was });
        Ok(is_elsewhere)
    }
}
