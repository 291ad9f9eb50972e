//! The changes of a run's plans on the screen: how much of them, in whose words, and where they are
//! folded.

use super::attribute_lines::Values;
use super::details::Details;
use super::folding::{FoldedLines, StackChanges, fold};
use super::plan_text::{Listing, changes, full_text};
use crate::model::StackId;
use crate::report::screen::{Terminal, Verbosity};

/// How many lines of changes a pipe gets: enough to read, and not a log of nothing else.
const PIPE_LINES: usize = 500;

/// How many lines stand around changes at the end of a run, besides the table and the next steps.
const BESIDE_CHANGES: usize = 8;

/// How many lines a question takes.
const BESIDE_QUESTION: usize = 5;

/// A plan as it is shown.
#[derive(Debug)]
pub enum Listed {
    /// In tofu's own words.
    Text(Vec<String>),
    /// Folded with those of the other stacks.
    Changes(StackChanges),
}

impl Listed {
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(lines) => lines.is_empty(),
            Self::Changes(changes) => changes.heading.is_empty(),
        }
    }

    /// Returns all of it.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Text(lines) => lines.clone(),
            Self::Changes(changes) => fold(std::slice::from_ref(changes), usize::MAX).stacks.concat(),
        }
    }
}

/// Where plans are shown, and how much of them was asked for.
#[derive(Clone, Copy, Debug)]
pub struct PlanScreen {
    pub terminal: Terminal,
    pub details: Option<Details>,
}

impl PlanScreen {
    /// Returns whether plans are shown in tofu's own words: one alone, and where all is wanted or the
    /// log folds it anyway.
    pub fn is_full(&self, stacks: usize) -> bool {
        let is_wanted = self.terminal.verbosity() == Verbosity::Verbose || self.terminal.is_github();
        match self.details {
            None => stacks == 1 || is_wanted,
            Some(Details::All) => stacks == 1,
            Some(Details::Addresses | Details::None) => false,
        }
    }

    pub fn listed(&self, plan: Listing<'_>) -> Listed {
        match full_text(&self.terminal, plan) {
            Some(lines) => Listed::Text(lines),
            None => Listed::Changes(changes(&self.terminal, plan, self.values())),
        }
    }

    /// Returns what a question is about in one stack; where nothing is wanted, how much it is.
    pub fn proposed(&self, plan: Listing<'_>) -> StackChanges {
        let listed = changes(&self.terminal, plan, self.values());
        match self.details {
            Some(Details::None) => StackChanges { entries: Vec::new(), ..listed },
            _ => listed,
        }
    }

    /// Folds what a question is about.
    pub fn fold_question(&self, proposed: &[StackChanges]) -> FoldedLines {
        fold(proposed, self.room(BESIDE_QUESTION))
    }

    /// Shows the changes of stacks below a table; returns the first of which something is folded away.
    pub fn show(&self, listings: Vec<(StackId, Listed)>, beside: usize) -> Option<StackId> {
        let (mut ids, mut stacks) = (Vec::new(), Vec::new());
        for (id, listed) in listings {
            match listed {
                Listed::Text(lines) => self.terminal.group(id.as_str(), &lines),
                Listed::Changes(changes) => {
                    ids.push(id);
                    stacks.push(changes);
                }
            }
        }
        let folded = fold(&stacks, self.room(beside + BESIDE_CHANGES));
        for (id, lines) in ids.iter().zip(&folded.stacks) {
            self.terminal.group(id.as_str(), lines);
        }
        folded.first_folded.map(|first| ids.swap_remove(first))
    }

    /// Returns how many lines changes may take.
    fn room(&self, beside: usize) -> usize {
        match self.details {
            None if self.terminal.is_github() => usize::MAX,
            None => self.terminal.out_rows().map_or(PIPE_LINES, |rows| rows.saturating_sub(beside)),
            Some(_) => usize::MAX,
        }
    }

    fn values(&self) -> Values {
        if self.details == Some(Details::All) { Values::Whole } else { Values::Cut }
    }
}
