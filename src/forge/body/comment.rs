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

/// How much is told of one of many failures, in bytes.
const SHORT: usize = 300;

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
    /// The table has two columns.
    Narrow,
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
        let levels = [Thrift::None, Thrift::Tight, Thrift::Narrow, Thrift::Counted];
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
            &self.parts(most),
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
        let width = match thrift {
            Thrift::None => Width::Wide,
            Thrift::Tight => Width::Tight,
            Thrift::Narrow | Thrift::Counted | Thrift::Desperate => Width::Narrow,
        };
        let rest = format!("\n{}", self.about(thrift));
        let mut text = format!("{}\n", self.mark());
        let left = room.saturating_sub(text.len() + rest.len() + 200);
        let all = self.lost(thrift, None).0.len();
        // Neither rows nor addresses take more than half from the other.
        let for_rows = (thrift == Thrift::Desperate).then(|| left.saturating_sub(all).max(left / 2));
        let (table, rows_missing) = self.table(width, for_rows);
        let for_lost = (thrift == Thrift::Desperate).then(|| left.saturating_sub(table.len()));
        let (lost, lost_missing) = self.lost(thrift, for_lost);
        text.extend([table, rest, lost]);
        let missing =
            [(rows_missing, "rows of stacks"), (lost_missing, "addresses that are destroyed or replaced")];
        let missing = missing.into_iter().filter(|(count, _)| *count > 0);
        (text, missing.map(|(count, what)| format!("{count} {what}")).collect())
    }

    fn table(&self, width: Width, most: Option<usize>) -> (String, usize) {
        let imports = self.stacks.iter().any(|stack| stack.report.import > 0);
        let mut text = heading(imports, width);
        let rows = self.with_rows();
        if rows.is_empty() {
            let cells = if imports { "| | |" } else { "| |" };
            let stacks = match self.stacks.len() {
                0 => "no stacks".to_owned(),
                count => counted(count, "stack"),
            };
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
        let count = lines.iter().filter(|line| line.starts_with(' ')).count() + left_out;
        if count == 0 {
            return (String::new(), 0);
        }
        let title = format!("**Destroyed or replaced: {}**\n\n", counted(count, "resource"));
        (format!("{title}{}", fence("", &lines)), left_out)
    }

    /// Returns what is folded: failures, what the data change did, then the plans, the gravest first.
    fn parts(&self, most: usize) -> Vec<Part> {
        let rows = self.with_rows();
        let failures: Vec<Part> = rows.iter().filter_map(|stack| failure(stack, usize::MAX)).collect();
        // Of many failures each is told in a few lines rather than some in full.
        let is_much = failures.iter().map(|part| part.whole.len()).sum::<usize>() > most / 2;
        let short = rows.iter().filter_map(|stack| failure(stack, SHORT));
        let failures = if is_much { short.collect() } else { failures };
        let rendered = self.rendered.iter().map(|diff| rendered_part(diff));
        let plans = rows.iter().filter_map(|stack| plan(stack));
        failures.into_iter().chain(rendered).chain(plans).collect()
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
    if thrift > Thrift::Tight {
        return format!(" {sign} {address}");
    }
    match because.is_empty() || thrift > Thrift::None {
        true => format!("  {sign} {address}"),
        false => {
            format!("  {sign} {address}  (because of {})", because.join(", ").replace(['\n', '\r'], " "))
        }
    }
}

fn failure(stack: &PlannedStack, most: usize) -> Option<Part> {
    let error = stack.report.error.as_ref()?;
    let id = stack.report.id.as_str();
    let summary = std::iter::once(error.summary.as_str());
    let hints = error.hint.iter().flat_map(|hint| lines_of(hint)).map(|hint| format!("hint: {hint}"));
    let lines = summary.chain(error.rest_of_detail()).flat_map(lines_of).map(str::to_owned);
    let mut lines: Vec<String> = lines.chain(hints).collect();
    if lines.iter().map(String::len).sum::<usize>() > most {
        let mut left = most;
        lines = lines.iter().map_while(|line| beginning(line, &mut left)).collect();
        lines.push("… the rest is in the log of the run".to_owned());
    }
    let title = format!("{} failed", html_code(id));
    let whole = fold(&title, &fence("", &lines)).replacen("<details>", "<details open>", 1);
    Some(Part { name: id.to_owned(), whole, lines: Some((title, lines)) })
}

/// Returns a line, or as much of it as there is room for; nothing where there is none left.
fn beginning(line: &str, left: &mut usize) -> Option<String> {
    if *left == 0 {
        return None;
    }
    let end = (0..=line.len().min(*left)).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    *left -= (*left).min(line.len());
    line.get(..end).map(str::to_owned)
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
