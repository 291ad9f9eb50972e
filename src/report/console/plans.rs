//! The plans of a run on the screen: each as it comes, in its place at the end, or with the question.

use jiff::Timestamp;

use super::{Console, PlanOutput};
use crate::events::Proposal;
use crate::model::{
    ChangeDetail, PlanDifference, ResourceChange, RunCommand, RunReport, Safe, StackId, human_duration,
    quoted,
};
use crate::report::plan_view::{Details, Listed, Listing, PlanScreen, difference_lines, whole};
use crate::report::screen::{Tone, Verbosity, shortened};

impl Console {
    /// One plan is shown as it comes; of several each is shown in its place.
    pub(super) fn planned(
        &mut self,
        stack: &StackId,
        (changes, outputs_changed): (&[ResourceChange], usize),
        (text, details): (&[Safe], &[ChangeDetail]),
        saved_at: Option<Timestamp>,
    ) {
        self.live.rest(stack);
        self.show_output(stack);
        // A saved plan is looked at again in its turn.
        if saved_at.is_some_and(|made| self.taken.contains(&(stack.clone(), made))) {
            return;
        }
        let is_hidden = self.plans == PlanOutput::Hidden || self.details == Some(Details::None);
        if is_hidden || (self.asks && self.stacks > 1) {
            return;
        }
        let (differences, full, note) = (&[][..], self.plan_screen().is_full(self.stacks), None);
        let plan = Listing { stack, changes, outputs_changed, differences, details, text, full, note };
        let listed = self.plan_screen().listed(plan);
        if listed.is_empty() {
            return;
        }
        self.shown.insert(stack.clone(), changes.to_vec());
        if self.stacks == 1 {
            self.live.above(|| self.terminal.text(&format!("{}\n", listed.lines().join("\n"))));
        } else if self.command.is_ordered() {
            self.live.above(|| self.terminal.group(stack.as_str(), &listed.lines()));
        } else {
            self.listings.insert(stack.clone(), listed);
        }
    }

    /// What is asked about is listed with the question; what goes on or ends without one is told here.
    pub(super) fn plan_differs(
        &self,
        stack: &StackId,
        differences: &[PlanDifference],
        note: &str,
        applied: bool,
    ) {
        if self.terminal.verbosity() == Verbosity::Quiet {
            return;
        }
        let word = self.terminal.paint(Tone::Warn, "warning");
        let end = if applied { "`--yes` was given, so it is applied" } else { "so it is left as it is" };
        self.note(&format!("{word}: {stack}: {note}; {end}"));
        let lines = differences.iter().flat_map(|one| difference_lines(&self.terminal, one));
        lines.for_each(|line| self.note(&line));
    }

    pub(super) fn taken_up(&mut self, stack: &StackId, saved_at: Option<Timestamp>) {
        let made = saved_at.filter(|made| self.taken.insert((stack.clone(), *made)));
        // A question about several lists it with its age.
        if let Some(made) = made.filter(|_| !self.asks || self.stacks == 1) {
            let (id, age) = (shortened(stack.as_str(), self.id_width), self.age(made));
            self.note(&format!("  · {id}: takes the plan that was saved {age} ago"));
        }
    }

    fn age(&self, made: Timestamp) -> String {
        human_duration(self.started.duration_since(made).as_secs_f64().max(0.0))
    }

    /// Shows the changes of each stack in the order of the stacks; `beside` lines are on the screen too.
    pub(super) fn show_listings(&mut self, report: &RunReport, beside: usize) {
        let ordered = report.stacks.iter().filter_map(|stack| self.listings.remove_entry(&stack.id));
        let ordered: Vec<(StackId, Listed)> = ordered.collect();
        if ordered.is_empty() {
            return;
        }
        self.note("");
        if let Some(stack) = self.plan_screen().show(ordered, beside) {
            self.note(&format!("  folded to fit: {}", self.way_to_all(&stack)));
        }
        // Where stdout goes elsewhere, nothing stands between the two.
        if self.terminal.out_columns().is_some() {
            self.note("");
        }
    }

    const fn plan_screen(&self) -> PlanScreen {
        PlanScreen { terminal: self.terminal, details: self.details }
    }

    /// Says how to see what is folded away.
    fn way_to_all(&self, stack: &StackId) -> String {
        let kept_here = self.scope.plans_dir.is_none() && self.scope.bundle.is_none();
        let is_saved = self.command == RunCommand::Plan && kept_here;
        let again = match &self.scope.in_full {
            Some(command) => format!("`{command}`"),
            None => "the same command with `--details all`".to_owned(),
        };
        match is_saved && !self.scope.keeps_no_plans {
            true => {
                format!("see all of a stack: `infra show {} --plan`, of all: {again}", quoted(stack.as_str()))
            }
            false => format!("see all: {again}"),
        }
    }

    /// Lists what a question is about, where it was not shown before.
    pub(super) fn list<'a>(&self, proposals: impl Iterator<Item = &'a Proposal>) {
        let is_new = |proposal: &&Proposal| match self.stacks {
            _ if proposal.details.is_some() => true,
            // A single plan was shown as a whole; only what else is to be known of it is new.
            1 => proposal.note.is_some(),
            _ => {
                !proposal.differences.is_empty() || self.shown.get(&proposal.stack) != Some(&proposal.changes)
            }
        };
        let new: Vec<&Proposal> = proposals.filter(is_new).collect();
        let screen = self.plan_screen();
        let proposed = |proposal: &&Proposal| self.with_listing(proposal, |plan| screen.proposed(plan));
        let folded = screen.fold_question(&new.iter().map(proposed).collect::<Vec<_>>());
        let mut is_folded = false;
        for (number, proposal) in new.iter().enumerate() {
            let lines = match &proposal.details {
                Some(text) => self.with_listing(proposal, |plan| whole(&self.terminal, plan, text)),
                None => folded.stacks[number].clone(),
            };
            is_folded |= proposal.details.is_none() && folded.first_folded.is_some();
            let lines = lines.join("\n");
            match self.plans {
                PlanOutput::Shown => self.terminal.text(&format!("{lines}\n")),
                PlanOutput::Hidden => self.terminal.alert(&lines),
            }
        }
        if is_folded {
            self.note("  folded to fit: `d` shows every attribute");
        }
    }

    fn with_listing<T>(&self, proposal: &Proposal, write: impl FnOnce(Listing<'_>) -> T) -> T {
        let Proposal { stack, changes, outputs_changed, differences, .. } = proposal;
        let age = proposal.saved_at.map(|made| format!("saved {} ago", self.age(made)));
        let notes: Vec<String> = age.into_iter().chain(proposal.note.clone()).collect();
        let note = Some(notes.join(" · ")).filter(|note| !note.is_empty());
        let (outputs_changed, note) = (*outputs_changed, note.as_deref());
        let (details, text, full) = (&proposal.attributes[..], &[][..], false);
        write(Listing { stack, changes, outputs_changed, differences, details, text, full, note })
    }
}
