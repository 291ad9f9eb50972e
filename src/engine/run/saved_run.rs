//! Applying saved plans and nothing else: all are looked at before the first is applied.
//!
//! One that does not fit, and nothing is applied at all. A stack without a plan is named and
//! left; one whose plan an earlier run carried out already has nothing to do. Plans of bundles are looked
//! at in the same way; what could not be planned into one is left with what depends on it. Begin at
//! `check_saved`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::conductor::{Conductor, HeldBackBy};
use super::finish::report;
use super::pending_plan::{PendingPlan, PendingPlans, pending_where};
use super::side_by_side::{TurnEnd, work_through};
use crate::engine::bundle::BundleUse;
use crate::engine::calls::{Retries, Stop};
use crate::engine::plan::SavedPlans;
use crate::engine::stack::{FoundPlan, Planned, StackLife, Upstream};
use crate::error::Error;
use crate::model::{StackId, StackReport, StackResult, StackRun};

/// How a stack stands before anything is applied.
enum SavedPlanState {
    /// It has a plan that fits.
    Ready(Box<Planned>),
    /// Its plan was carried out by an earlier run.
    Done,
    /// It has none, or one that does not count, for this reason.
    Unplanned(Option<&'static str>),
    /// It could not be planned into its bundle, for this reason.
    Deferred(String),
}

type CheckedPlan = Result<SavedPlanState, Stop>;

impl<'a> Conductor<'a> {
    /// Looks at all saved plans; returns whether any may be applied.
    pub async fn check_saved(&self, pending_plans: &PendingPlans) -> bool {
        let looked: Vec<RefCell<Option<CheckedPlan>>> =
            pending_plans.iter().map(|_| RefCell::default()).collect();
        let mut schedule = self.schedule(HeldBackBy::Ignored);
        work_through(&mut schedule, |index| self.look_at(self.runs[index], &looked[index])).await;
        if self.session.interrupts.any() {
            // Each is told in its turn.
            return true;
        }
        let looked: Vec<Option<CheckedPlan>> = looked.into_iter().map(RefCell::into_inner).collect();
        let unfit = looked.iter().position(|one| matches!(one, Some(Err(_))));
        if let Some(unfit) = unfit {
            self.refuse_all(looked, self.runs[unfit]);
            return false;
        }
        for ((run, pending), one) in self.runs.iter().zip(pending_plans).zip(looked) {
            if let Some(Ok(standing)) = one {
                self.take_in(run, pending, standing);
            }
        }
        self.leave_dependents(pending_plans);
        let foreign = |pending: &PendingPlan| {
            pending.has_changes() && pending.plan().is_some_and(|planned| planned.foreign)
        };
        self.ask_about(&pending_where(pending_plans, foreign), pending_plans).await;
        true
    }

    async fn look_at(&self, run: &'a StackRun, looked: &RefCell<Option<CheckedPlan>>) -> TurnEnd {
        if !self.session.interrupts.any() && !self.is_done(run) {
            let standing = self.life(run).standing().await;
            *looked.borrow_mut() = Some(standing.and_then(|standing| self.check_protected(run, standing)));
        }
        TurnEnd::Ended
    }

    /// A protected stack loses nothing without a word on the command line.
    fn check_protected(&self, run: &StackRun, standing: SavedPlanState) -> CheckedPlan {
        match &standing {
            SavedPlanState::Ready(planned) if self.loses_protected(run, planned) && !planned.foreign => {
                let message = format!("`{}` is protected, and its saved plan loses resources", run.stack.id);
                Err(Error::failed(message).hint("allow it with `--allow-destroy`").into())
            }
            _ => Ok(standing),
        }
    }

    /// Finishes all stacks: those whose plans do not fit with the reason, the others because of them.
    fn refuse_all(&self, looked: Vec<Option<CheckedPlan>>, first: &StackRun) {
        let now = self.session.clock.now();
        let reason = format!("nothing is applied, because the plan of {} cannot be", first.stack.id);
        for (run, one) in self.runs.iter().zip(looked) {
            match one {
                Some(Err(stop)) => self.finish_stopped(run, stop, now),
                Some(Ok(SavedPlanState::Done)) => self.finish(run, done(run), now),
                Some(Ok(SavedPlanState::Unplanned(why))) => self.finish(run, unplanned(run, why), now),
                Some(Ok(SavedPlanState::Deferred(reason))) => self.finish(run, deferred(run, reason), now),
                Some(Ok(SavedPlanState::Ready(planned))) if planned.record.is_empty() => {
                    self.finish(run, report(run, StackResult::NoChanges), now);
                }
                Some(Ok(SavedPlanState::Ready(planned))) => {
                    let skipped = report(run, StackResult::Skipped).with_changes(&planned.record.changes);
                    self.finish(run, skipped.with_reason(reason.clone()), now);
                }
                None if self.is_done(run) => {}
                None => self.finish_stopped(run, Stop::Interrupted, now),
            }
        }
    }

    fn take_in(&self, run: &StackRun, pending: &RefCell<PendingPlan>, standing: SavedPlanState) {
        let now = self.session.clock.now();
        let ended = match standing {
            SavedPlanState::Ready(planned) => {
                *pending.borrow_mut() =
                    PendingPlan { outcome: Some(Ok(*planned)), early: true, ..PendingPlan::default() };
                return;
            }
            SavedPlanState::Done => done(run),
            SavedPlanState::Unplanned(why) => {
                self.tally.borrow_mut().leave(&run.stack.id);
                unplanned(run, why)
            }
            SavedPlanState::Deferred(reason) => {
                self.tally.borrow_mut().leave(&run.stack.id);
                deferred(run, reason)
            }
        };
        pending.borrow_mut().finished = true;
        self.finish(run, ended, now);
    }

    /// Leaves what is said to depend on a stack that could not be planned; layers alone do not count.
    fn leave_dependents(&self, pending_plans: &PendingPlans) {
        let mut left: BTreeSet<&StackId> = BTreeSet::new();
        for (run, pending) in self.runs.iter().zip(pending_plans) {
            let id = &run.stack.id;
            if self.tally.borrow().result_of(id) == Some(StackResult::Deferred) {
                left.insert(id);
            }
            let Some(first) = run.stack.depends_on.iter().find(|id| left.contains(id)) else { continue };
            if !self.is_done(run) {
                let skipped = report(run, StackResult::Skipped).with_reason(format!("{first} is left"));
                self.tally.borrow_mut().leave(id);
                pending.borrow_mut().finished = true;
                self.finish(run, skipped, self.session.clock.now());
                left.insert(id);
            }
        }
    }
}

fn deferred(run: &StackRun, reason: String) -> StackReport {
    report(run, StackResult::Deferred).with_reason(reason)
}

fn done(run: &StackRun) -> StackReport {
    report(run, StackResult::NoChanges).with_reason("its saved plan was applied already")
}

fn unplanned(run: &StackRun, why: Option<&str>) -> StackReport {
    let skipped = report(run, StackResult::Skipped);
    match why {
        Some(why) => skipped.with_reason(format!("{} that counts: {why}", StackReport::NO_SAVED_PLAN)),
        None => skipped.with_reason(StackReport::NO_SAVED_PLAN),
    }
}

impl StackLife<'_> {
    /// Says how the stack stands while nothing of this run is applied.
    async fn standing(self) -> CheckedPlan {
        if let BundleUse::Apply(bundles) = &self.options.bundle {
            let id = &self.run.stack.id;
            return match (bundles.plan_of(id), bundles.deferral_of(id)) {
                (Some(plan), _) => {
                    let mut retries = Retries::of(self.session, id);
                    let planned = retries.run(async || self.prove(bundles, plan).await).await?;
                    Ok(SavedPlanState::Ready(Box::new(planned)))
                }
                (None, reason) => Ok(SavedPlanState::Deferred(reason.unwrap_or_default().to_owned())),
            };
        }
        let saved = SavedPlans::at(&self.options.plans_dir);
        if let FoundPlan::Nothing(why) = self.find_saved(&saved)? {
            let is_done = self.is_done(&saved).await?;
            return Ok(if is_done { SavedPlanState::Done } else { SavedPlanState::Unplanned(why) });
        }
        // What an earlier run applied of these very plans is as if this run had.
        let applied = self.run.inputs.values().any(|from| saved.applied(&from.stack).is_some());
        let upstream = if applied { Upstream::Applied } else { Upstream::Untouched };
        self.plan_or_take_saved(upstream).await.map(|planned| SavedPlanState::Ready(Box::new(planned)))
    }

    /// Returns whether the last plan was applied, and nothing that it was made from changed since.
    async fn is_done(self, saved: &SavedPlans) -> Result<bool, Stop> {
        let Some(record) = saved.applied(&self.run.stack.id) else { return Ok(false) };
        let own = self.provenance(saved).is_own(&record, &self.run.stack);
        Ok(own && self.change_since(&record).await?.is_none())
    }
}
