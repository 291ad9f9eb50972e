//! The run as Markdown: a table of the stacks, what each would change, why some failed.
//!
//! Written as `summary.md` beside the record of a run over several stacks, and added to
//! the page that GitHub Actions shows for a job, where `GITHUB_STEP_SUMMARY` names one.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use super::ending::{SharedCause, count_columns, count_line, result_sign, result_words, shared_causes};
use super::listen::Report;
use crate::atomic_file;
use crate::events::{NumberedEvent, RunEvent};
use crate::model::{ResourceChange, RunReport, StackError, StackId, StackReport};

/// How much of the changes of one stack is listed.
const LISTED: usize = 200;

/// Writes the summary when the run ends.
#[derive(Debug)]
pub struct MarkdownSummary {
    run_dir: PathBuf,
    page: Option<PathBuf>,
    project: String,
    changes: BTreeMap<StackId, Vec<ResourceChange>>,
}

impl MarkdownSummary {
    /// Writes below the folder of a run, and to the page of a job where there is one.
    pub fn new(run_dir: PathBuf, page: Option<PathBuf>) -> Self {
        Self { run_dir, page, project: String::new(), changes: BTreeMap::new() }
    }

    fn finish(&self, report: &RunReport) {
        let text = self.text(report);
        if report.stacks.len() > 1 {
            let _ = atomic_file::write(&self.run_dir.join("summary.md"), text.as_bytes());
        }
        if let Some(page) = &self.page {
            let file = OpenOptions::new().append(true).create(true).open(page);
            let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
        }
    }

    fn text(&self, report: &RunReport) -> String {
        let title = format!("### {} · {}\n\n", escaped(&self.project), report.command.name());
        let columns = count_columns(report);
        let names: String = columns.iter().map(|(name, _)| format!(" {name} |")).collect();
        let mut text =
            format!("{title}| stack | result |{names}\n|---|---|{}\n", "---:|".repeat(columns.len()));
        for stack in &report.stacks {
            text.push_str(&row(report, stack));
        }
        text.push_str(&format!("\n{}\n", count_line(report)));
        let causes = shared_causes(report);
        causes.iter().for_each(|cause| text.push_str(&details_of(cause)));
        let alone = |stack: &&StackReport| !causes.iter().any(|cause| cause.hits(&stack.id));
        for stack in report.stacks.iter().filter(alone) {
            text.push_str(&self.details(stack));
        }
        text
    }

    /// Returns what a reader may unfold: the changes of a stack, or why it failed.
    fn details(&self, stack: &StackReport) -> String {
        let mut lines: Vec<String> = Vec::new();
        if let Some(error) = &stack.error {
            lines.extend(lines_of(error));
        } else {
            let changes = self.changes.get(&stack.id).map(Vec::as_slice).unwrap_or_default();
            let listed = changes.iter().take(LISTED);
            lines.extend(listed.map(|change| format!("{:>3} {}", change.action.sign(), change.address)));
            if changes.len() > LISTED {
                lines.push(format!("… and {} more", changes.len() - LISTED));
            }
        }
        if lines.is_empty() {
            return String::new();
        }
        unfolded(stack.id.as_str(), &lines)
    }
}

/// Returns one cause of many failures, with all the stacks that it hit.
fn details_of(cause: &SharedCause<'_>) -> String {
    let stacks = cause.stacks.iter().map(ToString::to_string);
    let Some(error) = cause.error() else { return String::new() };
    let lines: Vec<String> = lines_of(error).into_iter().chain([String::new()]).chain(stacks).collect();
    unfolded(&format!("{} stacks failed for one reason", cause.stacks.len()), &lines)
}

fn lines_of(error: &StackError) -> Vec<String> {
    let summary = std::iter::once(error.summary.as_str());
    summary.chain(error.rest_of_detail()).map(str::to_owned).collect()
}

fn unfolded(title: &str, lines: &[String]) -> String {
    let fence = fence_for(lines);
    let (title, body) = (escaped(title), lines.join("\n"));
    format!("\n<details><summary>{title}</summary>\n\n{fence}\n{body}\n{fence}\n</details>\n")
}

impl Report for MarkdownSummary {
    fn event(&mut self, numbered: &NumberedEvent) {
        match &numbered.event {
            RunEvent::RunStarted { project, .. } => self.project.clone_from(project),
            RunEvent::Planned { stack, changes, .. } => {
                self.changes.insert(stack.clone(), changes.clone());
            }
            RunEvent::RunFinished { report } => self.finish(report),
            RunEvent::Warning { .. }
            | RunEvent::StepStarted { .. }
            | RunEvent::Line { .. }
            | RunEvent::Resource { .. }
            | RunEvent::Refreshed { .. }
            | RunEvent::Diagnostic { .. }
            | RunEvent::LockAwaited { .. }
            | RunEvent::LockTaken { .. }
            | RunEvent::PlanDiffers { .. }
            | RunEvent::StatesNoted { .. }
            | RunEvent::StateRenamed { .. }
            | RunEvent::NothingDone
            | RunEvent::StackFinished { .. }
            | RunEvent::Interrupted { .. } => {}
        }
    }
}

fn row(report: &RunReport, stack: &StackReport) -> String {
    let (id, words) = (escaped(stack.id.as_str()), escaped(&result_words(report.command, stack)));
    let counts = count_columns(report);
    let counts: String = counts.iter().map(|(_, count)| format!(" {} |", count(stack))).collect();
    format!("| {id} | {} {words} |{counts}\n", result_sign(stack))
}

/// Escapes a text for a table and for HTML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('|', "\\|");
    text.replace(['\n', '\r'], " ")
}

/// Returns a fence that the lines themselves cannot close.
fn fence_for(lines: &[String]) -> String {
    let longest = lines.iter().map(|line| line.chars().take_while(|char| *char == '`').count()).max();
    "`".repeat(longest.unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Action, RunCommand, StackError, StackResult};

    fn report(stacks: Vec<StackReport>) -> RunReport {
        RunReport {
            run_id: "1".to_owned(),
            command: RunCommand::Plan,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 1.0,
            exit_code: 1,
            stacks,
        }
    }

    #[test]
    fn the_summary_has_a_row_for_each_stack_and_folds_the_changes() {
        let id = StackId::new("01-a/x|y");
        let mut summary = MarkdownSummary::new(PathBuf::new(), None);
        let change = ResourceChange::new("terraform_data.a".into(), Action::Create);
        summary.changes.insert(id.clone(), vec![change]);

        let text = summary.text(&report(vec![StackReport::new(id, StackResult::Succeeded)]));

        assert!(text.contains("| 01-a/x\\|y | ✓ outputs only | 0 | 0 | 0 |"), "{text}");
        assert!(text.contains("```\n  + terraform_data.a\n```"), "{text}");
    }

    #[test]
    fn the_words_of_a_failure_cannot_break_out_of_their_fence() {
        let detail = "```\n<script>".to_owned();
        let error = StackError { code: None, summary: "boom".to_owned(), detail, hint: None };
        let stack =
            StackReport { error: Some(error), ..StackReport::new(StackId::new("x"), StackResult::Failed) };

        let text = MarkdownSummary::new(PathBuf::new(), None).text(&report(vec![stack]));

        assert!(text.contains("````\nboom\n```\n<script>\n````"), "{text}");
    }

    #[test]
    fn the_first_line_of_a_failure_stands_there_once() {
        let (summary, detail) = ("boom".to_owned(), "boom\n  at main.tf:1:1\nwhy".to_owned());
        let error = StackError { code: None, summary, detail, hint: None };
        let stack =
            StackReport { error: Some(error), ..StackReport::new(StackId::new("x"), StackResult::Failed) };

        let text = MarkdownSummary::new(PathBuf::new(), None).text(&report(vec![stack]));

        assert!(text.contains("```\nboom\n  at main.tf:1:1\nwhy\n```"), "{text}");
    }
}
