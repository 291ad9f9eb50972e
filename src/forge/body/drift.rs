//! The issue about drift: what changed outside, what was merged and not applied, what could not be
//! looked at. Begin at [`DriftIssue::body`].

use super::Body;
use super::folds::{Part, fill, notice};
use super::text::{cell, code, fence, fold, html_code, lines_of};
use super::told::PlanningRun;
use crate::forge::marker;
use crate::model::{ChangeCounts, StackReport, StackResult, counted};

/// A stack that was looked at.
#[derive(Clone, Debug)]
pub struct DriftedStack {
    /// What became of the look.
    pub report: StackReport,
    /// What changed outside, as tofu writes it for people.
    pub text: Vec<String>,
    /// What its files say that was not applied; none where that is nothing.
    pub not_applied: Option<ChangeCounts>,
}

/// Everything that the issue says.
#[derive(Clone, Debug)]
pub struct DriftIssue {
    /// The project.
    pub project: String,
    /// The run that looked.
    pub run: PlanningRun,
    /// The stacks.
    pub stacks: Vec<DriftedStack>,
}

/// What a look at a stack found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Finding {
    Drifted,
    Unchecked,
    NotApplied,
    Clean,
}

impl DriftedStack {
    fn finding(&self) -> Finding {
        match self.report.result {
            StackResult::Succeeded => Finding::Drifted,
            StackResult::NoChanges if self.not_applied.is_some() => Finding::NotApplied,
            StackResult::NoChanges => Finding::Clean,
            StackResult::Failed | StackResult::Skipped | StackResult::Deferred | StackResult::Interrupted => {
                Finding::Unchecked
            }
        }
    }
}

impl DriftIssue {
    /// Returns the mark that the issue begins with.
    pub fn mark(&self) -> String {
        marker::of_drift(&self.project)
    }

    /// Returns the mark of the word with which this run closes the issue.
    pub fn mark_of_last_word(&self) -> String {
        marker::of_last_word(&self.project, &self.run.id)
    }

    /// Returns the title that a new issue gets.
    pub fn title(&self) -> String {
        format!("Drift in {}", crate::model::in_plain_sight(&self.project))
    }

    /// Returns whether anything changed outside.
    pub fn has_drift(&self) -> bool {
        self.has(Finding::Drifted)
    }

    /// Returns whether every stack could be looked at.
    pub fn is_complete(&self) -> bool {
        !self.has(Finding::Unchecked)
    }

    /// Returns the word with which the issue is closed.
    pub fn last_word(&self) -> String {
        let mark = self.mark_of_last_word();
        let count = counted(self.stacks.len(), "stack");
        format!("{mark}\nNo drift any more in {count}.\n\n{}\n", self.about())
    }

    /// Returns the text of the issue, of at most so many bytes.
    pub fn body(&self, most: usize) -> Body {
        let mut text = format!("{}\n{}\n{}\n\n", self.mark(), self.table(), self.about());
        text.push_str(&self.words());
        let parts: Vec<Part> = self.stacks.iter().filter_map(part).collect();
        let missing = fill(&mut text, &parts, most);
        if !missing.is_empty() {
            text.push_str(&notice(&missing));
        }
        Body { text, is_cut: !missing.is_empty() }
    }

    fn has(&self, finding: Finding) -> bool {
        self.stacks.iter().any(|stack| stack.finding() == finding)
    }

    fn table(&self) -> String {
        let mut text = "| stack | found | added | changed | gone |\n|:--|:--|--:|--:|--:|\n".to_owned();
        for finding in [Finding::Drifted, Finding::Unchecked, Finding::NotApplied] {
            let stacks = self.stacks.iter().filter(|stack| stack.finding() == finding);
            stacks.for_each(|stack| text.push_str(&row(stack)));
        }
        if !self.stacks.iter().any(|stack| stack.finding() != Finding::Clean) {
            text.push_str(&format!("| {} | no drift | | | |\n", counted(self.stacks.len(), "stack")));
        }
        text
    }

    fn about(&self) -> String {
        let (project, time) = (code(&self.project), self.run.at.strftime("%Y-%m-%d %H:%M UTC"));
        let id = code(&self.run.id);
        let run = match &self.run.address {
            Some(address) => format!("[run {id}]({address})"),
            None => format!("run {id}"),
        };
        let commit = self.run.commit.as_ref().map(|commit| format!(" at {}", code(commit)));
        format!("**{project}**: looked at {time}{}, {run}", commit.unwrap_or_default())
    }

    fn words(&self) -> String {
        let mut text = String::new();
        let clean = self.stacks.iter().filter(|stack| stack.finding() == Finding::Clean).count();
        if clean > 0 && clean < self.stacks.len() {
            text.push_str(&format!("No drift in {}.\n\n", counted(clean, "other stack")));
        }
        if self.stacks.iter().any(|stack| stack.not_applied.is_some()) {
            text.push_str("What is *not applied* was merged, or is in the files, and is not in the state: apply it.\n\n");
        }
        if !self.is_complete() {
            text.push_str(
                "What is *not checked* may have drifted too; this issue stays open until it is known.\n\n",
            );
        }
        text
    }
}

fn row(stack: &DriftedStack) -> String {
    let report = &stack.report;
    let waits = stack.not_applied.is_some().then_some("not applied");
    let words: Vec<&str> = match stack.finding() {
        Finding::Drifted => std::iter::once("drifted").chain(waits).collect(),
        Finding::Unchecked => vec!["✗ not checked"],
        Finding::NotApplied | Finding::Clean => waits.into_iter().collect(),
    };
    let counts = match stack.finding() {
        Finding::Drifted => [report.add, report.change, report.destroy].map(|count| count.to_string()),
        _ => [const { String::new() }; 3],
    };
    format!("| {} | {} | {} |\n", cell(report.id.as_str()), words.join(", "), counts.join(" | "))
}

fn part(stack: &DriftedStack) -> Option<Part> {
    let id = stack.report.id.as_str();
    let (words, lines): (&str, Vec<String>) = match stack.finding() {
        Finding::Drifted => ("drifted", stack.text.clone()),
        Finding::Unchecked => ("could not be checked", why_unchecked(&stack.report)),
        Finding::NotApplied | Finding::Clean => return None,
    };
    if lines.is_empty() {
        return None;
    }
    let title = format!("{} {words}", html_code(id));
    Some(Part { name: id.to_owned(), whole: fold(&title, &fence("", &lines)), lines: Some((title, lines)) })
}

fn why_unchecked(report: &StackReport) -> Vec<String> {
    let Some(error) = &report.error else {
        return vec![report.reason.clone().unwrap_or_else(|| "it was interrupted".to_owned())];
    };
    let summary = std::iter::once(error.summary.as_str());
    summary.chain(error.rest_of_detail()).flat_map(lines_of).map(str::to_owned).collect()
}
