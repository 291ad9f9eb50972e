//! `infra drift --issue`: looks twice, and tells one issue what was found.
//!
//! What changed outside is what a plan finds that only refreshes. What was merged and not applied is
//! what a plan finds that does not refresh: it compares the files with the state, and knows nothing of
//! what changed outside. So neither is ever taken for the other.

use std::collections::BTreeSet;

use super::super::execute::{execute_to_report, look_again};
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::gitops::ForgeArgs;
use crate::commands::loaded_project::root_of;
use crate::commands::run::{Request, RunArgs};
use crate::error::{Exit, Kind, Result};
use crate::forge::{
    DriftIssue, DriftedStack, ForgeKind, IssueOutcome, IssueTracker, PlanningRun, Surroundings, Target,
};
use crate::model::{ChangeCounts, Project, RunReport, StackId, StackReport, StackResult};
use crate::project;
use crate::report::{RecordedPlans, Tone};
use crate::tofu::call::PlanMode;

/// Runs the command with an issue.
pub(super) async fn run(mut request: Request, forge: &ForgeArgs, context: &Context) -> Result<Exit> {
    let (surroundings, dry) = (Surroundings::read(&context.env), request.run.dry_run);
    request.run.dry_run = false;
    // What cannot be told in the end is known before the stacks are looked at, which may take long.
    let tracker = match dry {
        true => None,
        false => Some(open(forge, &surroundings, context)?),
    };
    let again = second_look(&request);
    request.run.json &= !dry;
    let (exit, report) = execute_to_report(request, context).await?;
    let Some(report) = report else { return Ok(exit) };
    if exit == Kind::Interrupted.exit() {
        return Ok(exit);
    }
    let project = project::load(&root_of(context)?)?;
    let not_applied = not_applied(again, &report, context).await?;
    let issue = issue_of(&project, &report, &not_applied)?;
    match tracker {
        None => {
            let most = forge.given().kind(&surroundings).unwrap_or(ForgeKind::Github).most_bytes();
            context.terminal.data(&issue.body(most).text);
        }
        Some(tracker) => tell(&tracker.keep(&issue).await?, context),
    }
    Ok(exit)
}

fn open(forge: &ForgeArgs, surroundings: &Surroundings, context: &Context) -> Result<IssueTracker> {
    let target = Target::resolve(&forge.given(), surroundings.clone(), &context.env)?;
    IssueTracker::open(&target, &context.env, (context.clock, &context.interrupts))
}

/// Returns the request that finds out what was not applied, without its stacks.
fn second_look(request: &Request) -> Request {
    let mut extra = request.extra.clone();
    extra.push("-refresh=false".to_owned());
    // Which of all stacks is said by their ids, when they are known.
    let workspace = request.stacks.workspace.clone();
    let stacks = StackArgs { all: workspace.is_some(), workspace, ..StackArgs::default() };
    let run = RunArgs { json: false, jsonl: false, resume: false, init: false, ..request.run.clone() };
    Request { mode: PlanMode::Normal, extra, ..Request::new(request.command, stacks, run) }
}

/// Returns what the files say and the states do not, of the stacks that could be looked at.
async fn not_applied(
    mut request: Request,
    report: &RunReport,
    context: &Context,
) -> Result<Vec<(StackId, ChangeCounts)>> {
    let known =
        |stack: &&StackReport| matches!(stack.result, StackResult::Succeeded | StackResult::NoChanges);
    let stacks: BTreeSet<StackId> =
        report.stacks.iter().filter(known).map(|stack| stack.id.clone()).collect();
    if stacks.is_empty() {
        return Ok(Vec::new());
    }
    request.undone = Some(stacks);
    context.terminal.note("looking for merges that were not applied");
    let looked = match look_again(request, &report.run_id, context).await {
        Ok(looked) => looked,
        Err(error) if error.kind() == Kind::Interrupted => return Err(error),
        Err(error) => {
            let warning = context.terminal.paint(Tone::Warn, "warning");
            let message = format!("{warning}: nobody knows what was not applied: {}", error.message());
            context.terminal.note(&message);
            return Ok(Vec::new());
        }
    };
    let waiting = looked.stacks.into_iter().filter(|stack| stack.result == StackResult::Succeeded);
    Ok(waiting.map(|stack| (stack.id.clone(), stack.counts())).collect())
}

fn issue_of(
    project: &Project,
    report: &RunReport,
    not_applied: &[(StackId, ChangeCounts)],
) -> Result<DriftIssue> {
    let recorded = RecordedPlans::read(&project.runs_dir().join(&report.run_id))?;
    let stacks = report.stacks.iter().map(|stack| DriftedStack {
        report: stack.clone(),
        text: recorded.texts.get(&stack.id).cloned().unwrap_or_default(),
        not_applied: not_applied.iter().find(|(id, _)| *id == stack.id).map(|(_, counts)| *counts),
    });
    let run = PlanningRun {
        id: report.run_id.clone(),
        at: report.started,
        commit: recorded.origin.checkout.clone(),
        is_older: false,
        address: recorded.origin.address.clone(),
        purpose: None,
    };
    Ok(DriftIssue { project: project.name.clone(), run, stacks: stacks.collect() })
}

fn tell(outcome: &IssueOutcome, context: &Context) {
    let (words, address) = match outcome {
        IssueOutcome::Nothing => ("no issue is needed", None),
        IssueOutcome::Opened(address) => ("opened an issue", address.as_deref()),
        IssueOutcome::Updated(address) => ("updated the issue", address.as_deref()),
        IssueOutcome::Reopened(address) => ("reopened the issue", address.as_deref()),
        IssueOutcome::Closed(address) => ("closed the issue", address.as_deref()),
    };
    let address = address.map(|address| format!(": {address}")).unwrap_or_default();
    context.terminal.note(&format!("{words}{address}"));
}
