//! Carrying out an approved plan: after a transient error what is left of it is planned
//! and applied again, as long as it is nothing but what was shown.

use super::life::{Planned, ShownPlan, StackLife};
use super::shown_plan::Comparison;
use crate::engine::calls::{Retries, Stop, not_tried_again};
use crate::engine::run::{Approval, Conductor};
use crate::events::RunEvent;
use crate::model::{StackError, StackRun};

/// How far a plan was carried out.
#[derive(Debug)]
pub enum Applied {
    /// To its end.
    Done(Box<Planned>),
    /// Up to an error; what is left is not what was shown, so somebody must be asked.
    Unsettled(Box<Leftover>),
}

/// What is left of a plan after an error.
#[derive(Debug)]
pub struct Leftover {
    pub plan: Planned,
    /// How it stands to what was shown.
    pub comparison: Comparison,
    /// The error, with the reason why nothing more was done.
    pub error: StackError,
}

/// What becomes of a plan that is not what was shown; somebody is asked if neither is said.
#[derive(Clone, Copy, Debug)]
pub struct PlanDecision {
    /// It is applied, because a yes was given beforehand.
    pub applied: bool,
    /// It is left as it is.
    pub left: bool,
}

impl<'a> Conductor<'a> {
    /// Applies a plan; after a transient error what is left of it is planned and applied again.
    ///
    /// A state that is in another workspace since (`is_elsewhere`) makes the plan a stale one, too.
    pub async fn apply(
        &self,
        run: &'a StackRun,
        planned: Planned,
        is_elsewhere: bool,
    ) -> Result<Applied, Stop> {
        let shown = planned.as_shown();
        self.changes.set(true);
        let outcome = self.apply_with_retries(run, planned, (&shown, is_elsewhere)).await;
        shown.plans.remove_retired(&run.stack.id)?;
        outcome
    }

    async fn apply_with_retries(
        &self,
        run: &'a StackRun,
        mut planned: Planned,
        (shown, is_elsewhere): (&ShownPlan, bool),
    ) -> Result<Applied, Stop> {
        let mut retries = Retries::of(self.session, &run.stack.id);
        let mut overtaken = false;
        loop {
            let error = match self.life(run).apply(&planned).await {
                Ok(()) => return Ok(Applied::Done(Box::new(planned))),
                Err(Stop::Failed(error)) if !overtaken && self.is_overtaken(&error, is_elsewhere) => {
                    overtaken = true;
                    error
                }
                Err(Stop::Failed(error)) if retries.allows(&error) => {
                    retries.pause(&error).await;
                    error
                }
                Err(stop) => return Err(stop),
            };
            let life = StackLife { beside: Some(&shown.plans), ..self.life(run) };
            let plan = life.plan_privately().await?;
            if plan.record.is_empty() {
                return Ok(Applied::Done(Box::new(planned)));
            }
            let comparison = life.compare(shown, &plan).await;
            if !self.goes_on_with(run, &plan, &comparison) {
                let why = self.why_not_again(run, &plan, &comparison);
                let error = not_tried_again(error, &run.stack.id, &why);
                return Ok(Applied::Unsettled(Box::new(Leftover { plan, comparison, error })));
            }
            planned = plan;
        }
    }

    /// Returns whether another run changed the state since the plan was made, so that tofu did nothing.
    fn is_overtaken(&self, error: &StackError, is_elsewhere: bool) -> bool {
        (is_elsewhere || self.options.approval != Approval::Saved)
            && error.code.as_deref() == Some(StackError::STALE_PLAN)
    }

    /// Returns whether what is left may be applied, and tells if it is not what was shown.
    fn goes_on_with(&self, run: &StackRun, rest: &Planned, comparison: &Comparison) -> bool {
        let Some(note) = comparison.note() else { return true };
        let applied = self.options.approval == Approval::Given && !self.loses_protected(run, rest);
        self.tell_differing(
            run,
            comparison,
            note,
            PlanDecision { applied, left: self.options.approval == Approval::Saved },
        );
        applied
    }

    /// Tells that a plan is not what was shown.
    pub fn tell_differing(&self, run: &StackRun, comparison: &Comparison, note: String, fate: PlanDecision) {
        let (stack, differences) = (run.stack.id.clone(), comparison.differences().to_vec());
        self.session.events.emit(RunEvent::PlanDiffers {
            stack,
            differences,
            note,
            applied: fate.applied,
            left: fate.left,
        });
    }

    /// Says what stands in the way of applying what is left of a plan.
    fn why_not_again(&self, run: &StackRun, rest: &Planned, comparison: &Comparison) -> String {
        let differing = comparison.differences().iter();
        let new = differing.map(|change| format!("{} `{}`", change.action.sign(), change.address));
        let new = new.collect::<Vec<_>>().join(", ");
        match (self.loses_protected(run, rest), comparison) {
            (true, _) => {
                format!("`{}` is protected, and what is left to do would lose resources: {new}", run.stack.id)
            }
            (false, Comparison::Unclear(reason)) => {
                format!("what is left to do cannot be compared with what was approved: {reason}")
            }
            (false, _) => format!("what is left to do is not what was approved: {new}"),
        }
    }
}
