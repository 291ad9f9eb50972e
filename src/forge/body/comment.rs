//! The comment on a pull request: a table, what is lost, why something failed, then the plans.
//!
//! What must never be cut comes first: the rows, and every address that is destroyed or replaced.
//! Begin at [`PlanComment::body`].

use super::Body;
use super::folds::{Part, fill, notice};
use super::rows::{Weight, Width, heading, row};
use super::text::{code, fence, fold, html_code, lines_of};
use super::told::{PlannedStack, PlanningRun};
use crate::forge::marker;
use crate::model::{ReportedChange, StackResult, counted};

/// How many unchanged stacks are named without a fold.
const NAMED_OPENLY: usize = 6;

/// Everything that a comment says.
#[derive(Clone, Debug)]
pub struct PlanComment {
    /// The project.
    pub project: String,
    /// The runs that planned.
    pub runs: Vec<PlanningRun>,
    /// The stacks.
    pub stacks: Vec<PlannedStack>,
    /// What a change of data or templates did to the rendered files, as unified diffs.
    pub rendered: Vec<String>,
    /// The commit that the pull request is at now.
    pub head: Option<String>,
}

/// How much room is saved.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Thrift {
    None,
    Tight,
    /// Stacks without changes are counted only.
    Counted,
    /// Rows and addresses are what fits.
    Desperate,
}

impl PlanComment {
    /// Returns the mark that the comment begins with.
    pub fn mark(&self) -> String {
        marker::of_comment(&self.project)
    }

    /// Returns the comment, of at most so many bytes.
    pub fn body(&self, most: usize) -> Body {
        let levels = [Thrift::None, Thrift::Tight, Thrift::Counted];
        let room = most.saturating_sub(super::folds::NOTICE_ROOM);
        let mut fitting = levels.into_iter().map(|level| (level, self.front(level, room)));
        let fitting = fitting.find(|(_, (text, _))| text.len() <= room);
        let (level, (mut text, mut missing)) =
            fitting.unwrap_or_else(|| (Thrift::Desperate, self.front(Thrift::Desperate, room)));
        if level == Thrift::Counted {
            missing.push("the names of the stacks without changes".to_owned());
        }
        missing.extend(fill(
            &mut text,
            &self.parts(),
            most.saturating_sub(if missing.is_empty() { 0 } else { super::folds::NOTICE_ROOM }),
        ));
        let is_cut = !missing.is_empty();
        if is_cut {
            text.push_str(&notice(&missing));
        }
        Body { text, is_cut }
    }

    /// Returns what stands above the folds, and what had no room there.
    fn front(&self, thrift: Thrift, room: usize) -> (String, Vec<String>) {
        let width = if thrift >= Thrift::Tight { Width::Tight } else { Width::Wide };
        let rest = self.about(thrift);
        let mut missing = Vec::new();
        let mut text = format!("{}\n", self.mark());
        let half = (thrift == Thrift::Desperate).then(|| room.saturating_sub(rest.len()) / 2);
        let (table, left_out) = self.table(width, half);
        text.push_str(&table);
        if left_out > 0 {
            missing.push(format!("the rows of {left_out} stacks"));
        }
        text.push('\n');
        text.push_str(&rest);
        let left = (thrift == Thrift::Desperate).then(|| room.saturating_sub(text.len() + 200));
        let (lost, left_out) = self.lost(thrift, left);
        text.push_str(&lost);
        if left_out > 0 {
            missing.push(format!("{left_out} addresses that are destroyed or replaced"));
        }
        (text, missing)
    }

    fn table(&self, width: Width, most: Option<usize>) -> (String, usize) {
        let imports = self.stacks.iter().any(|stack| stack.report.import > 0);
        let mut text = heading(imports);
        let rows = self.with_rows();
        if rows.is_empty() {
            let cells = if imports { "| | |" } else { "| |" };
            let stacks = counted(self.stacks.len(), "stack");
            text.push_str(&format!("| {stacks} | no changes | | | {cells}\n"));
        }
        let mut left_out = 0;
        for stack in rows {
            let row = row(stack, self.runs.get(stack.run).is_some_and(|run| run.is_older), imports, width);
            match most {
                Some(most) if text.len() + row.len() > most => left_out += 1,
                _ => text.push_str(&row),
            }
        }
        (text, left_out)
    }

    /// Returns the stacks that have a row, the gravest first.
    fn with_rows(&self) -> Vec<&PlannedStack> {
        let has_row =
            |stack: &&PlannedStack| Weight::of(&stack.report) != Weight::Unchanged || stack.moved_on;
        let mut rows: Vec<&PlannedStack> = self.stacks.iter().filter(has_row).collect();
        rows.sort_by_key(|stack| Weight::of(&stack.report));
        rows
    }

    /// Returns which plans these are, and what to know about them.
    fn about(&self, thrift: Thrift) -> String {
        let mut text = String::new();
        for run in &self.runs {
            text.push_str(&format!("{}\n\n", self.line_about(run)));
        }
        if self.runs.iter().any(|run| run.is_older) {
            let now = self.head.as_deref().map(|head| format!(" The pull request is at {} now.", code(head)));
            text.push_str(&format!(
                "**Plan of an older commit.**{} Plan again.\n\n",
                now.unwrap_or_default()
            ));
        }
        text.push_str(&self.unchanged(thrift));
        text
    }

    fn line_about(&self, run: &PlanningRun) -> String {
        let project = code(&self.project);
        let purpose = run.purpose.as_ref().map(|words| format!(" {words}")).unwrap_or_default();
        let commit = run.commit.as_ref().map(|commit| format!(" of {}", code(commit))).unwrap_or_default();
        let time = run.at.strftime("%Y-%m-%d %H:%M UTC");
        let id = match &run.address {
            Some(address) => format!("[run {}]({address})", code(&run.id)),
            None => format!("run {}", code(&run.id)),
        };
        format!("**{project}**: plan{purpose}{commit}, {time}, {id}")
    }

    /// Names the stacks in which nothing changes.
    fn unchanged(&self, thrift: Thrift) -> String {
        let is_unchanged =
            |stack: &&PlannedStack| Weight::of(&stack.report) == Weight::Unchanged && !stack.moved_on;
        let names: Vec<&str> =
            self.stacks.iter().filter(is_unchanged).map(|stack| stack.report.id.as_str()).collect();
        if names.is_empty() {
            return String::new();
        }
        let count = counted(names.len(), "stack");
        if thrift >= Thrift::Counted {
            return format!("No changes in {count}.\n\n");
        }
        if names.len() <= NAMED_OPENLY {
            let names: Vec<String> = names.into_iter().map(code).collect();
            return format!("No changes in {}.\n\n", names.join(", "));
        }
        format!("{}\n", fold(&format!("No changes in {count}"), &fence("", &names)))
    }

    /// Lists everything that goes away, with the reason of a replacement.
    fn lost(&self, thrift: Thrift, most: Option<usize>) -> (String, usize) {
        let (mut lines, mut size, mut left_out) = (Vec::new(), 0, 0);
        for stack in self.with_rows() {
            let changes: Vec<&ReportedChange> =
                stack.report.changes.iter().filter(|change| is_lost(change)).collect();
            if changes.is_empty() {
                continue;
            }
            let heading = stack.report.id.as_str().replace(['\n', '\r'], " ");
            for (number, change) in changes.into_iter().enumerate() {
                let line = lost_line(change, thrift);
                let cost = line.len() + 1 + if number == 0 { heading.len() + 1 } else { 0 };
                if most.is_some_and(|most| size + cost > most) {
                    left_out += 1;
                    continue;
                }
                size += cost;
                if number == 0 {
                    lines.push(heading.clone());
                }
                lines.push(line);
            }
        }
        let count = lines.iter().filter(|line| line.starts_with("  ")).count() + left_out;
        if count == 0 {
            return (String::new(), 0);
        }
        let title = format!("**Destroyed or replaced: {}**\n\n", counted(count, "resource"));
        (format!("{title}{}", fence("", &lines)), left_out)
    }

    /// Returns what is folded: failures, what the data change did, then the plans, the gravest first.
    fn parts(&self) -> Vec<Part> {
        let rows = self.with_rows();
        let failures = rows.iter().filter_map(|stack| failure(stack));
        let rendered = self.rendered.iter().map(|diff| rendered_part(diff));
        let plans = rows.iter().filter_map(|stack| plan(stack));
        failures.chain(rendered).chain(plans).collect()
    }
}

fn is_lost(change: &ReportedChange) -> bool {
    change.actions.iter().any(|action| action == "delete")
}

fn lost_line(change: &ReportedChange, thrift: Thrift) -> String {
    let sign = match change.actions.as_slice() {
        [only] if only == "delete" => "-",
        [first, ..] if first == "create" => "+/-",
        _ => "-/+",
    };
    let address = change.address.as_str().replace(['\n', '\r'], " ");
    let because: Vec<&str> = change.replace_because.iter().map(crate::model::Safe::as_str).collect();
    match because.is_empty() || thrift > Thrift::None {
        true => format!("  {sign} {address}"),
        false => {
            format!("  {sign} {address}  (because of {})", because.join(", ").replace(['\n', '\r'], " "))
        }
    }
}

fn failure(stack: &PlannedStack) -> Option<Part> {
    let error = stack.report.error.as_ref()?;
    let id = stack.report.id.as_str();
    let summary = std::iter::once(error.summary.as_str());
    let hints = error.hint.iter().flat_map(|hint| lines_of(hint)).map(|hint| format!("hint: {hint}"));
    let lines = summary.chain(error.rest_of_detail()).flat_map(lines_of).map(str::to_owned);
    let lines: Vec<String> = lines.chain(hints).collect();
    let title = format!("{} failed", html_code(id));
    let whole = fold(&title, &fence("", &lines)).replacen("<details>", "<details open>", 1);
    Some(Part { name: id.to_owned(), whole, lines: Some((title, lines)) })
}

fn plan(stack: &PlannedStack) -> Option<Part> {
    if stack.text.is_empty() || stack.report.result == StackResult::Failed {
        return None;
    }
    let id = stack.report.id.as_str();
    let title = format!("{} {}", html_code(id), stack.report.counts());
    let lines: Vec<String> =
        stack.text.iter().flat_map(|line| line.split(['\n', '\r']).map(str::to_owned)).collect();
    let lines: Vec<String> = lines.into_iter().skip_while(|line| is_before_plan(line)).collect();
    let whole = fold(&title, &fence("", &lines));
    Some(Part { name: id.to_owned(), whole, lines: Some((title, lines)) })
}

/// Returns whether a line only tells how tofu came to its plan.
fn is_before_plan(line: &str) -> bool {
    let words = [": Refreshing state...", ": Reading...", ": Still reading...", ": Read complete after "];
    line.trim().is_empty() || words.iter().any(|words| line.contains(words))
}

fn rendered_part(diff: &str) -> Part {
    let lines: Vec<String> = diff.lines().map(str::to_owned).collect();
    let files = lines.iter().filter(|line| line.starts_with("+++ ")).count();
    let title = format!("What the change did to rendered files: {}", counted(files, "file"));
    let whole = fold(&title, &fence("diff", &lines));
    Part { name: "the rendered files".to_owned(), whole, lines: Some((title, lines)) }
}
