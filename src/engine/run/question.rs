//! The question before anything is changed: what it lists, and what becomes of the answer.
//!
//! A no to the first one ends the run without a change. Reviewed plans need no question,
//! unless somebody else made them.

use super::conductor::Conductor;
use super::options::Approval;
use super::pending_plan::PendingPlans;
use crate::engine::stack::Planned;
use crate::error::Error;
use crate::events::{Answer, Proposal, Question, RunEvent};
use crate::model::{RunCommand, Safe, Step};

impl Conductor<'_> {
    /// Asks once about several stacks, and notes the answer on their desks.
    pub async fn ask_about(&self, open: &[usize], pending_plans: &PendingPlans) {
        let is_asked = |index: &&usize| {
            self.options.approval != Approval::Saved || pending_plans[**index].borrow().is_for_a_person()
        };
        let (asked, left): (Vec<usize>, Vec<usize>) = open.iter().partition(|index| is_asked(index));
        left.into_iter().for_each(|index| pending_plans[index].borrow_mut().declined = true);
        if asked.is_empty() || self.session.interrupts.any() {
            return;
        }
        for index in &asked {
            let stack = self.runs[*index].stack.id.clone();
            self.session.events.emit(RunEvent::StepStarted { stack, step: Step::Approve });
        }
        let yes = self.ask(&asked, pending_plans).await;
        if !yes && self.options.has_person && !self.changes.get() && !self.session.interrupts.any() {
            self.session.events.emit(RunEvent::NothingDone);
            // One no is about everything that could be done.
            pending_plans.iter().for_each(|pending| pending.borrow_mut().declined = true);
        }
        for index in asked {
            let mut pending = pending_plans[index].borrow_mut();
            pending.declined = !yes;
            if yes {
                pending.approved = pending.plan().map(Planned::as_shown);
            }
        }
    }

    /// Asks until there is a yes or a no.
    async fn ask(&self, open: &[usize], pending_plans: &PendingPlans) -> bool {
        let mut question = self.question(open, pending_plans);
        loop {
            let mut interrupts = self.session.interrupts.clone();
            let answer = tokio::select! {
                answer = self.session.events.ask(question.clone()) => answer,
                _ = interrupts.beyond(0) => Answer::No,
            };
            match answer {
                Answer::Yes => return true,
                Answer::No => return false,
                Answer::Details => self.add_details(&mut question, pending_plans).await,
            }
        }
    }

    /// Adds what tofu writes about each plan.
    async fn add_details(&self, question: &mut Question, pending_plans: &PendingPlans) {
        for proposal in question.proposals().iter_mut().filter(|proposal| proposal.details.is_none()) {
            let Some(index) = self.numbers.get(&proposal.stack) else { continue };
            let plans = pending_plans[*index].borrow().plan().map(|planned| planned.plans.clone());
            let Some(plans) = plans else { continue };
            let text = self.life(self.runs[*index]).text_of(&plans).await;
            let said = |error: Error| vec![Safe::through(&self.session.mask(), error.message())];
            proposal.details = Some(text.unwrap_or_else(said));
        }
    }

    /// Lists what is to be done, those that lose something first; what cannot be shown yet comes last.
    fn question(&self, open: &[usize], pending_plans: &PendingPlans) -> Question {
        let mut proposals: Vec<Proposal> =
            open.iter().map(|index| self.proposal(*index, pending_plans)).collect();
        proposals.sort_by_key(|proposal| !proposal.is_destructive());
        let unknown = (0..pending_plans.len()).filter(|index| pending_plans[*index].borrow().is_unknown());
        let later = unknown.map(|index| self.proposal(index, pending_plans)).collect();
        match self.plan.command {
            RunCommand::Destroy => {
                let (project, remaining) = (self.plan.project.clone(), self.options.remaining.clone());
                Question::Destroy { proposals, project, remaining }
            }
            _ => Question::Apply { proposals, later },
        }
    }

    fn proposal(&self, index: usize, pending_plans: &PendingPlans) -> Proposal {
        let pending = pending_plans[index].borrow();
        let changes = pending.plan().map(|planned| planned.record.shown_changes()).unwrap_or_default();
        let run = self.runs[index];
        let is_protected = pending.plan().is_some_and(|planned| self.loses_protected(run, planned));
        let is_foreign = pending.plan().is_some_and(|planned| planned.foreign);
        let record = pending.plan().map(|planned| &planned.record);
        let (stack, differences) = (run.stack.id.clone(), pending.differences.clone());
        let own = pending.plan().filter(|planned| planned.reviewed || planned.foreign);
        Proposal {
            stack,
            changes,
            outputs_changed: record.map_or(0, |record| record.outputs_changed),
            saved_at: own.map(|planned| planned.record.made_at),
            details: None,
            attributes: pending.plan().map(|planned| planned.details.clone()).unwrap_or_default(),
            differences,
            note: pending.note.clone().or_else(|| remark(pending.plan()).map(str::to_owned)),
            is_protected,
            is_foreign,
        }
    }
}

/// Says what is special about a plan.
fn remark(planned: Option<&Planned>) -> Option<&'static str> {
    let planned = planned?;
    match planned.foreign {
        true => Some("not made by you here"),
        false => planned.record.unnamed.then_some("changes that tofu does not name"),
    }
}
