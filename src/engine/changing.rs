//! Apply and destroy: plans that are shown, approved once, and carried out in order.
//!
//! Where somebody is to be asked, everything is planned first, so that one question can
//! show it all. Then each stack has its turn when those before it are done. A plan that
//! was made before a stack below was applied is made again in its turn, and goes on
//! without a question only if it is of the kind that was shown. What needs a new yes is
//! set aside until nothing else can run. Begin at `plan_approve_apply`.

use std::cell::RefCell;

use jiff::{SignedDuration, Timestamp};

use super::consent::{Case, is_of_the_same_kind};
use super::failure::Stop;
use super::options::Approval;
use super::retry::{Retries, not_tried_again};
use super::run::{Conductor, Edges};
use super::side_by_side::{Turn, work_through};
use super::stack_life::{Planned, Upstream};
use crate::events::{Proposal, Question, RunEvent};
use crate::model::{Action, ResourceChange, RunCommand, StackId, StackRun, Step};

/// What lies on the desk of a stack between its turns.
#[derive(Debug, Default)]
pub(super) struct Desk {
    /// The plan, or why there is none.
    outcome: Option<Result<Planned, Stop>>,
    /// Whether it was made before the stacks below had their turn.
    early: bool,
    /// What somebody said yes to.
    approved: Option<Vec<ResourceChange>>,
    /// Whether somebody said no.
    declined: bool,
    /// Whether the stack has its result already.
    finished: bool,
    /// Why its plan cannot be the last word yet.
    note: Option<String>,
    /// What planning took; a person's thinking does not count.
    spent: SignedDuration,
}

impl Desk {
    fn plan(&self) -> Option<&Planned> {
        self.outcome.as_ref()?.as_ref().ok()
    }

    /// A plan that was made in its turn and is still here needs a yes.
    fn is_set_aside(&self) -> bool {
        !self.early && self.plan().is_some()
    }

    fn set_aside(&mut self, mut planned: Planned, spent: SignedDuration) {
        planned.shown_before = planned.shown_before.or_else(|| self.approved.take());
        let changed = planned.shown_before.is_some();
        self.note = changed.then(|| "no longer of the kind that was shown".to_owned());
        (self.outcome, self.spent, self.early) = (Some(Ok(planned)), spent, false);
    }

    /// Whether what will be done cannot be shown yet.
    fn is_unknown(&self) -> bool {
        self.outcome.is_some() && !self.has_changes() && self.note.is_some()
    }

    fn has_changes(&self) -> bool {
        self.plan().is_some_and(|planned| !planned.record.is_empty())
    }
}

type Desks = Vec<RefCell<Desk>>;

/// Which stack before another will change something.
#[derive(Clone, Copy, Debug, Default)]
struct WaitsFor<'a> {
    /// One whose values it uses.
    used: Option<&'a StackId>,
    /// Any one below it.
    below: Option<&'a StackId>,
}

impl<'a> Conductor<'a> {
    /// Plans, shows, asks and carries out.
    pub async fn plan_approve_apply(&self) {
        let desks: Desks = self.runs.iter().map(|_| RefCell::default()).collect();
        if self.options.approval == Approval::Ask {
            self.look_ahead(&desks).await;
            let open: Vec<usize> =
                (0..desks.len()).filter(|index| self.is_open(*index, &desks[*index])).collect();
            self.ask_about(&open, &desks).await;
        }
        let mut schedule = self.schedule(Edges::Kept);
        loop {
            work_through(&mut schedule, |index| self.turn(self.runs[index], &desks[index])).await;
            let open: Vec<usize> =
                (0..desks.len()).filter(|index| desks[*index].borrow().is_set_aside()).collect();
            if open.is_empty() {
                return;
            }
            self.ask_about(&open, &desks).await;
            open.into_iter().for_each(|index| schedule.take_up(index));
        }
    }

    /// Plans everything as it stands today.
    async fn look_ahead(&self, desks: &Desks) {
        let mut schedule = self.schedule(Edges::Ignored);
        work_through(&mut schedule, |index| self.plan_early(self.runs[index], &desks[index])).await;
        let mut pending = vec![false; desks.len()];
        for (index, run) in self.runs.iter().enumerate() {
            // Nobody is asked about what cannot happen any more.
            if self.is_held_back(run, self.since(&desks[index])) {
                *desks[index].borrow_mut() = Desk { finished: true, ..Desk::default() };
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
            pending[index] = self.judge_early(run, &desks[index], waits_for).await;
        }
    }

    async fn plan_early(&self, run: &'a StackRun, desk: &RefCell<Desk>) -> Turn {
        if self.session.interrupts.any() {
            return Turn::Ended;
        }
        let since = self.session.clock.now();
        let outcome = self.plan_now(run).await;
        let spent = self.session.clock.now().duration_since(since);
        *desk.borrow_mut() = Desk { outcome: Some(outcome), early: true, spent, ..Desk::default() };
        Turn::Ended
    }

    /// Finishes what needs no turn, and returns whether the stack will, or may, change something.
    async fn judge_early(&self, run: &'a StackRun, desk: &RefCell<Desk>, waits_for: WaitsFor<'_>) -> bool {
        let since = self.since(desk);
        let Some(outcome) = desk.borrow_mut().outcome.take() else { return false };
        let note = match (&outcome, waits_for.used.or(waits_for.below)) {
            (Ok(planned), None) if planned.record.is_empty() => {
                desk.borrow_mut().finished = true;
                self.finish_unchanged(run, since).await;
                return false;
            }
            (Ok(_), None) => None,
            (Ok(planned), Some(first)) if planned.record.is_empty() => {
                waits_for.used.map(|_| format!("no changes today; planned again when {first} is applied"))
            }
            (Ok(_), Some(first)) => Some(format!("planned again when {first} is applied")),
            (Err(Stop::Interrupted), _) => return false,
            (Err(_), None) => {
                desk.borrow_mut().finished = true;
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
        let mut desk = desk.borrow_mut();
        let unchanged = outcome.as_ref().is_ok_and(|planned| planned.record.is_empty());
        // Shown as nothing to do: whatever comes of it later is of another kind.
        desk.approved = unchanged.then(Vec::new);
        (desk.outcome, desk.note) = (Some(outcome), note);
        true
    }

    async fn finish_unplanned(&self, run: &'a StackRun, outcome: Result<Planned, Stop>, since: Timestamp) {
        match outcome {
            Err(Stop::Deferred(reason)) if self.plan.command == RunCommand::Destroy => {
                self.finish_without_inputs(run, &reason, since).await;
            }
            Err(stop) => self.finish_stopped(run, stop, since),
            Ok(_) => {}
        }
    }

    /// The turn of a stack: everything it waits for is done.
    async fn turn(&self, run: &'a StackRun, desk: &RefCell<Desk>) -> Turn {
        let since = self.since(desk);
        if desk.borrow().finished || self.is_held_back(run, since) {
            desk.borrow_mut().outcome = None;
            return Turn::Ended;
        }
        let planned = match self.plan_of_the_turn(run, desk).await {
            Ok(planned) if planned.record.is_empty() => {
                self.finish_unchanged(run, since).await;
                return Turn::Ended;
            }
            Ok(planned) => planned,
            outcome => {
                self.finish_unplanned(run, outcome, since).await;
                return Turn::Ended;
            }
        };
        if desk.borrow().declined {
            self.finish_declined(run, &planned, since);
            return Turn::Ended;
        }
        if !self.is_settled(run, &planned, desk) {
            let spent = self.session.clock.now().duration_since(since);
            desk.borrow_mut().set_aside(planned, spent);
            return Turn::SetAside;
        }
        match self.apply(run, planned).await {
            Ok(planned) => self.finish_applied(run, &planned, since).await,
            Err(stop) => self.finish_stopped(run, stop, since),
        }
        Turn::Ended
    }

    /// Returns the plan that was made, or a new one if a stack below was applied since.
    async fn plan_of_the_turn(&self, run: &'a StackRun, desk: &RefCell<Desk>) -> Result<Planned, Stop> {
        let (made, early) = {
            let mut desk = desk.borrow_mut();
            (desk.outcome.take(), desk.early)
        };
        let outdated = early && self.plan.command == RunCommand::Apply && self.tally.borrow().is_touched(run);
        match made.filter(|_| !outdated) {
            Some(outcome) => outcome,
            None => self.plan_now(run).await,
        }
    }

    async fn plan_now(&self, run: &'a StackRun) -> Result<Planned, Stop> {
        let applied = run.inputs.values().any(|from| self.tally.borrow().has_applied(&from.stack));
        let upstream = if applied { Upstream::Applied } else { Upstream::Untouched };
        let mut retries = Retries::of(self.session, &run.stack.id);
        retries.run(async || self.life(run).plan_or_take_saved(upstream).await).await
    }

    /// Applies a plan; after a transient error what is left of it is planned and applied again.
    async fn apply(&self, run: &'a StackRun, mut planned: Planned) -> Result<Planned, Stop> {
        let mut retries = Retries::of(self.session, &run.stack.id);
        loop {
            let error = match self.life(run).apply(&planned).await {
                Ok(()) => return Ok(planned),
                Err(Stop::Failed(error)) if retries.allows(&error) => error,
                Err(stop) => return Err(stop),
            };
            retries.pause(&error).await;
            let rest = self.life(run).plan_privately().await?;
            if rest.record.is_empty() {
                return Ok(planned);
            }
            let given = self.options.approval == Approval::Given && !self.loses_protected(run, &rest);
            if !given && !is_of_the_same_kind(&planned.record.changes, &rest.record.changes) {
                let why = self.why_not_again(run, &planned, &rest);
                return Err(Stop::Failed(not_tried_again(error, &run.stack.id, &why)));
            }
            planned = rest;
        }
    }

    /// Says what stands in the way of applying what is left of a plan.
    fn why_not_again(&self, run: &StackRun, shown: &Planned, rest: &Planned) -> String {
        let is_new = |change: &&ResourceChange| {
            change.action != Action::Read && !shown.record.changes.contains(change)
        };
        let new = rest.record.changes.iter().filter(is_new);
        let new = new.map(|change| format!("{} `{}`", change.action.sign(), change.address));
        let new = new.collect::<Vec<_>>().join(", ");
        match self.loses_protected(run, rest) {
            true => {
                format!("`{}` is protected, and what is left to do would lose resources: {new}", run.stack.id)
            }
            false => format!("what is left to do is not what was approved: {new}"),
        }
    }

    /// Asks once about several stacks, and notes the answer on their desks.
    async fn ask_about(&self, open: &[usize], desks: &Desks) {
        if open.is_empty() || self.session.interrupts.any() {
            return;
        }
        for index in open {
            let stack = self.runs[*index].stack.id.clone();
            self.session.events.emit(RunEvent::StepStarted { stack, step: Step::Approve });
        }
        let yes = self.ask(self.question(open, desks)).await;
        for index in open {
            let mut desk = desks[*index].borrow_mut();
            desk.declined = !yes;
            desk.approved = desk.plan().map(|planned| planned.record.changes.clone());
        }
    }

    async fn ask(&self, question: Question) -> bool {
        let mut interrupts = self.session.interrupts.clone();
        tokio::select! {
            answer = self.session.events.ask(question) => answer,
            _ = interrupts.beyond(0) => false,
        }
    }

    /// Lists what is to be done, those that lose something first; what cannot be shown yet comes last.
    fn question(&self, open: &[usize], desks: &Desks) -> Question {
        let mut proposals: Vec<Proposal> = open.iter().map(|index| self.proposal(*index, desks)).collect();
        proposals.sort_by_key(|proposal| !proposal.is_destructive());
        let unknown = (0..desks.len()).filter(|index| desks[*index].borrow().is_unknown());
        let later = unknown.map(|index| self.proposal(index, desks)).collect();
        match self.plan.command {
            RunCommand::Destroy => Question::Destroy { proposals, project: self.plan.project.clone() },
            _ => Question::Apply { proposals, later },
        }
    }

    fn proposal(&self, index: usize, desks: &Desks) -> Proposal {
        let desk = desks[index].borrow();
        let changes = desk.plan().map(|planned| planned.record.shown_changes()).unwrap_or_default();
        let run = self.runs[index];
        let is_protected = desk.plan().is_some_and(|planned| self.loses_protected(run, planned));
        let is_foreign = desk.plan().is_some_and(|planned| planned.foreign);
        let note = desk.note.clone().or_else(|| is_foreign.then(|| "not made by you here".to_owned()));
        Proposal { stack: run.stack.id.clone(), changes, note, is_protected, is_foreign }
    }

    /// Returns whether a stack has a plan that nobody said yes to.
    fn is_open(&self, index: usize, desk: &RefCell<Desk>) -> bool {
        let has_changes = desk.borrow().has_changes();
        let settled = |planned: &Planned| self.is_settled(self.runs[index], planned, desk);
        has_changes && !desk.borrow().plan().is_some_and(settled)
    }

    fn is_settled(&self, run: &StackRun, planned: &Planned, desk: &RefCell<Desk>) -> bool {
        let desk = desk.borrow();
        let case = Case {
            changes: &planned.record.changes,
            shown: desk.approved.as_deref(),
            reviewed: planned.reviewed,
            // A yes beforehand is about plans that this user made.
            given: self.options.approval == Approval::Given && !planned.foreign,
            protected: self.loses_protected(run, planned),
        };
        let reviewed_before = planned
            .shown_before
            .as_deref()
            .is_some_and(|shown| !case.protected && is_of_the_same_kind(shown, &planned.record.changes));
        reviewed_before || case.is_settled()
    }

    fn loses_protected(&self, run: &StackRun, planned: &Planned) -> bool {
        run.protect && planned.destroys() && !self.options.allow_destroy
    }

    /// Returns when the stack would have begun if nobody had been asked meanwhile.
    fn since(&self, desk: &RefCell<Desk>) -> Timestamp {
        self.session.clock.now().checked_sub(desk.borrow().spent).unwrap_or(self.started)
    }
}
