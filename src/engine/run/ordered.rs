//! Apply and destroy: plans that are shown, approved once, and carried out in order.
//!
//! Where somebody is to be asked, everything is planned first, so that one question can
//! show it all. Then each stack has its turn when those before it are done. A plan that
//! was made before a stack below was applied is made again in its turn, and goes on
//! without a question only if it does nothing but what was shown. What needs a new yes is
//! set aside until nothing else can run. Where saved plans alone are applied, `saved_run`
//! looks at all of them first. Who is asked, and what, is in `question`. Begin at [`run_in_order`].

use std::cell::RefCell;

use jiff::Timestamp;

use super::begin_and_end::lead;
use super::conductor::{Conductor, HeldBackBy};
use super::consent::PlanConsent;
use super::options::{Approval, RunOptions};
use super::pending_plan::{PendingPlan, PendingPlans, pending_where};
use super::side_by_side::{TurnEnd, work_through};
use crate::engine::calls::{Retries, Stop};
use crate::engine::plan::SavedPlans;
use crate::engine::session::Session;
use crate::engine::stack::{Applied, Comparison, PlanDecision, Planned, StackLife, Upstream};
use crate::engine::state_check::{StateCheck, note_state};
use crate::model::{RunCommand, RunPlan, RunReport, StackId, StackRun};

/// Which stack before another will change something.
#[derive(Clone, Copy, Debug, Default)]
struct WaitsFor<'a> {
    /// One whose values it uses.
    used: Option<&'a StackId>,
    /// Any one below it.
    below: Option<&'a StackId>,
}

/// Makes a plan of a run happen whose stacks wait for each other.
pub async fn run_in_order(
    session: &Session,
    plan: &RunPlan,
    options: &RunOptions,
    check: StateCheck,
) -> RunReport {
    lead((session, plan), options, check, async |conductor| conductor.plan_approve_apply().await).await
}

impl<'a> Conductor<'a> {
    /// Plans, shows, asks and carries out.
    async fn plan_approve_apply(&self) {
        if self.runs.iter().all(|run| self.is_done(run)) {
            return;
        }
        let pending = |run: &&StackRun| {
            RefCell::new(PendingPlan { finished: self.is_done(run), ..PendingPlan::default() })
        };
        let pending_plans: PendingPlans = self.runs.iter().map(pending).collect();
        match self.options.approval {
            Approval::Ask => {
                self.look_ahead(&pending_plans).await;
                self.ask_about(&pending_where(&pending_plans, PendingPlan::has_changes), &pending_plans)
                    .await;
            }
            Approval::Saved if !self.check_saved(&pending_plans).await => return,
            Approval::Saved | Approval::Given => {}
        }
        let mut schedule = self.schedule(HeldBackBy::Kept);
        loop {
            work_through(&mut schedule, |index| self.turn(self.runs[index], &pending_plans[index])).await;
            let open = pending_where(&pending_plans, PendingPlan::is_set_aside);
            if open.is_empty() {
                return;
            }
            self.ask_about(&open, &pending_plans).await;
            open.into_iter().for_each(|index| schedule.resume(index));
        }
    }

    /// Plans everything as it stands today.
    async fn look_ahead(&self, pending_plans: &PendingPlans) {
        let mut schedule = self.schedule(HeldBackBy::Ignored);
        work_through(&mut schedule, |index| self.plan_early(self.runs[index], &pending_plans[index])).await;
        let mut pending = vec![false; pending_plans.len()];
        for (index, run) in self.runs.iter().enumerate() {
            if pending_plans[index].borrow().finished {
                continue;
            }
            // Nobody is asked about what cannot happen any more.
            if self.is_held_back(run, self.since(&pending_plans[index])) {
                *pending_plans[index].borrow_mut() = PendingPlan { finished: true, ..PendingPlan::default() };
                continue;
            }
            let is_pending = |id: &&StackId| self.numbers.get(id).is_some_and(|earlier| pending[*earlier]);
            let waits_for = match self.plan.command {
                RunCommand::Apply => WaitsFor {
                    used: run.stack.depends_on.iter().find(is_pending),
                    below: run.after.iter().find(is_pending),
                },
                _ => WaitsFor::default(),
            };
            pending[index] = self.judge_early(run, &pending_plans[index], waits_for).await;
        }
    }

    async fn plan_early(&self, run: &'a StackRun, pending: &RefCell<PendingPlan>) -> TurnEnd {
        if self.session.interrupts.any() || pending.borrow().finished {
            return TurnEnd::Ended;
        }
        let since = self.session.clock.now();
        let outcome = self.plan_now(run, None).await;
        let spent = self.session.clock.now().duration_since(since);
        *pending.borrow_mut() =
            PendingPlan { outcome: Some(outcome), early: true, spent, ..PendingPlan::default() };
        TurnEnd::Ended
    }

    /// Finishes what needs no turn, and returns whether the stack will, or may, change something.
    async fn judge_early(
        &self,
        run: &'a StackRun,
        pending: &RefCell<PendingPlan>,
        waits_for: WaitsFor<'_>,
    ) -> bool {
        let since = self.since(pending);
        let Some(outcome) = pending.borrow_mut().outcome.take() else { return false };
        let note = match (&outcome, waits_for.used.or(waits_for.below)) {
            (Ok(planned), None) if planned.record.is_empty() => {
                pending.borrow_mut().finished = true;
                self.finish_unchanged(run, planned, since).await;
                return false;
            }
            (Ok(_), None) => None,
            (Ok(planned), Some(first)) if planned.record.is_empty() => {
                waits_for.used.map(|_| format!("no changes today; planned again when {first} is applied"))
            }
            // A saved plan is taken as it is unless what it was made from changes.
            (Ok(planned), Some(_)) if planned.reviewed && waits_for.used.is_none() => None,
            (Ok(planned), Some(first)) if planned.reviewed => {
                Some(format!("planned again when {first} is applied, if that changes what it uses"))
            }
            (Ok(_), Some(first)) => Some(format!("planned again when {first} is applied")),
            (Err(Stop::Interrupted), _) => return false,
            (Err(_), None) => {
                pending.borrow_mut().finished = true;
                self.finish_unplanned(run, outcome, since).await;
                return false;
            }
            (Err(Stop::Deferred(reason)), Some(_)) => {
                Some(format!("deferred {reason}; planned and asked about then"))
            }
            (Err(Stop::Failed(error)), Some(first)) => {
                Some(format!("cannot be planned before {first} is applied: {}", error.summary))
            }
        };
        let mut pending = pending.borrow_mut();
        let unchanged = outcome.as_ref().is_ok_and(|planned| planned.record.is_empty());
        // Shown as nothing to do: whatever comes of it later was not shown.
        pending.approved = outcome.as_ref().ok().filter(|_| unchanged).map(Planned::as_shown);
        (pending.outcome, pending.note) = (Some(outcome), note);
        true
    }

    async fn finish_unplanned(&self, run: &'a StackRun, outcome: Result<Planned, Stop>, since: Timestamp) {
        match outcome {
            Err(Stop::Deferred(_)) if self.plan.command == RunCommand::Destroy => {
                self.finish_without_inputs(run, since).await;
            }
            Err(stop) => self.finish_stopped(run, stop, since),
            Ok(_) => {}
        }
    }

    /// The turn of a stack: everything it waits for is done.
    async fn turn(&self, run: &'a StackRun, pending: &RefCell<PendingPlan>) -> TurnEnd {
        let since = self.since(pending);
        if pending.borrow().finished || self.is_kept_back(run, pending, since) {
            pending.borrow_mut().outcome = None;
            return TurnEnd::Ended;
        }
        let planned = match self.plan_of_the_turn(run, pending).await {
            Ok(planned) if planned.record.is_empty() => {
                self.finish_unchanged(run, &planned, since).await;
                return TurnEnd::Ended;
            }
            Ok(planned) => planned,
            outcome => {
                self.finish_unplanned(run, outcome, since).await;
                return TurnEnd::Ended;
            }
        };
        if pending.borrow().declined {
            self.finish_unapproved(run, &planned, pending, since);
            return TurnEnd::Ended;
        }
        let compared = self.compare(run, &planned, pending).await;
        if !self.needs_no_question(run, &planned, compared.as_ref(), pending) {
            self.set_aside(planned, compared.as_ref(), pending, since);
            return TurnEnd::SetAside;
        }
        let is_elsewhere = match self.bring_former_along(run).await {
            Ok(is_elsewhere) => is_elsewhere,
            Err(stop) => {
                self.finish_stopped(run, stop, since);
                return TurnEnd::Ended;
            }
        };
        let mode = planned.record.mode;
        let applied = self.apply(run, planned, is_elsewhere).await;
        // A destroy of everything that succeeded is noted with its end.
        if !(matches!(applied, Ok(Applied::Done(_))) && self.destroys_everything()) {
            note_state(self.session, &run.stack.id, mode).await;
        }
        match applied {
            Ok(Applied::Done(planned)) => self.finish_applied(run, &planned, since).await,
            Ok(Applied::Unsettled(left)) => {
                self.set_aside(left.plan, Some(&left.comparison), pending, since);
                pending.borrow_mut().error = Some(left.error);
                return TurnEnd::SetAside;
            }
            Err(stop) => self.finish_stopped(run, stop, since),
        }
        TurnEnd::Ended
    }

    /// Finishes a stack that cannot begin, or cannot go on with what is left after an error.
    fn is_kept_back(&self, run: &StackRun, pending: &RefCell<PendingPlan>, since: Timestamp) -> bool {
        let begun = pending.borrow().error.is_some();
        if !begun {
            return self.is_held_back(run, since);
        }
        if !self.session.interrupts.any() && self.obstacle(run).is_none() {
            return false;
        }
        // What was begun and not finished has failed, whatever keeps it from going on.
        let error = pending.borrow_mut().error.take();
        error.into_iter().for_each(|error| self.finish_stopped(run, Stop::Failed(error), since));
        true
    }

    fn set_aside(
        &self,
        planned: Planned,
        compared: Option<&Comparison>,
        pending: &RefCell<PendingPlan>,
        since: Timestamp,
    ) {
        let spent = self.session.clock.now().duration_since(since);
        pending.borrow_mut().set_aside(planned, compared, spent);
    }

    /// Finishes a stack whose plan somebody said no to, or nobody yes.
    fn finish_unapproved(
        &self,
        run: &'a StackRun,
        planned: &Planned,
        pending: &RefCell<PendingPlan>,
        since: Timestamp,
    ) {
        let (error, differs) = {
            let mut pending = pending.borrow_mut();
            (pending.error.take(), pending.differs() || planned.shown_before.is_some())
        };
        match error {
            Some(error) => self.finish_stopped(run, Stop::Failed(error), since),
            None => self.finish_declined(run, planned, differs, since),
        }
    }

    /// Compares a plan with what somebody was shown; `None` if nobody was.
    async fn compare(
        &self,
        run: &'a StackRun,
        planned: &Planned,
        pending: &RefCell<PendingPlan>,
    ) -> Option<Comparison> {
        let shown = pending.borrow().approved.clone().or_else(|| planned.shown_before.clone())?;
        let compared = self.life(run).compare(&shown, planned).await;
        let reviewed = SavedPlans::at(&self.options.plans_dir);
        if shown.plans != planned.plans && shown.plans != reviewed {
            // Nobody needs it any more; one that stays is removed with the others when the run ends.
            let _ = shown.plans.remove(&run.stack.id);
        }
        if let Some(note) = compared.note() {
            let given = self.options.approval == Approval::Given && !self.loses_protected(run, planned);
            let left = self.options.approval == Approval::Saved && !pending.borrow().is_for_a_person();
            self.tell_differing(run, &compared, note, PlanDecision { applied: given, left });
        }
        Some(compared)
    }

    /// Returns the plan that was made, or a new one if a stack below was applied since.
    async fn plan_of_the_turn(
        &self,
        run: &'a StackRun,
        pending: &RefCell<PendingPlan>,
    ) -> Result<Planned, Stop> {
        let (made, early) = {
            let mut pending = pending.borrow_mut();
            (pending.outcome.take(), pending.early)
        };
        let outdated = early && self.plan.command == RunCommand::Apply && self.tally.borrow().is_touched(run);
        match made {
            Some(outcome) if !outdated => outcome,
            // The new one is compared with it.
            Some(Ok(shown)) => self.plan_now(run, Some(&shown.plans)).await,
            _ => self.plan_now(run, None).await,
        }
    }

    async fn plan_now(&self, run: &'a StackRun, beside: Option<&SavedPlans>) -> Result<Planned, Stop> {
        let applied = run.inputs.values().any(|from| self.tally.borrow().has_applied(&from.stack));
        let upstream = if applied { Upstream::Applied } else { Upstream::Untouched };
        let mut retries = Retries::of(self.session, &run.stack.id);
        let life = StackLife { beside, ..self.life(run) };
        retries.run(async || life.plan_or_take_saved(upstream).await).await
    }

    fn needs_no_question(
        &self,
        run: &StackRun,
        planned: &Planned,
        compared: Option<&Comparison>,
        pending: &RefCell<PendingPlan>,
    ) -> bool {
        let as_shown = matches!(compared, Some(Comparison::Same));
        let case = PlanConsent {
            as_shown,
            asked: pending.borrow().approved.is_some(),
            // Somebody of this run who was asked has the last word.
            reviewed: self.options.approval == Approval::Saved
                && !pending.borrow().is_for_a_person()
                && !planned.foreign
                && (as_shown || (planned.reviewed && compared.is_none())),
            // A yes beforehand is about plans that this user made.
            given: self.options.approval == Approval::Given && !planned.foreign,
            protected: self.loses_protected(run, planned),
        };
        case.needs_no_question()
    }

    pub fn loses_protected(&self, run: &StackRun, planned: &Planned) -> bool {
        run.protect && planned.destroys() && !self.options.allow_destroy
    }

    /// Returns when the stack would have begun if nobody had been asked meanwhile.
    fn since(&self, pending: &RefCell<PendingPlan>) -> Timestamp {
        self.session.clock.now().checked_sub(pending.borrow().spent).unwrap_or(self.started)
    }
}
