//! The plans of several runs as one: of a stack that is in two of them the newer counts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::commands::Context;
use crate::commands::loaded_project::root_of;
use crate::error::{Error, Result};
use crate::forge::{PlanComment, PlannedStack, PlanningRun, Surroundings};
use crate::model::{PlanMode, RunCommand, StackId};
use crate::process::Git;
use crate::project;
use crate::report::{PastRun, RecordedPlans};

/// The plans that a comment is about.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The project.
    pub project: String,
    /// The runs, the oldest first.
    pub runs: Vec<RecordedPlans>,
}

impl Gathered {
    /// Reads the folders that are named, or that of the newest plan of the project.
    pub fn read(dirs: &[PathBuf], context: &Context) -> Result<Self> {
        let newest = if dirs.is_empty() { vec![newest_plan(context)?] } else { Vec::new() };
        let dirs = dirs.iter().map(|dir| context.cwd.join(dir)).chain(newest);
        let mut runs = dirs.map(|dir| read_plans(&dir)).collect::<Result<Vec<_>>>()?;
        runs.sort_by_key(|run| run.report.started);
        let mut names: Vec<&str> = runs.iter().filter_map(|run| run.project.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        let project = match names.as_slice() {
            [one] => (*one).to_owned(),
            [] => project::load(&root_of(context)?)?.name,
            [one, other, ..] => {
                return Err(Error::invalid(format!(
                    "these are plans of two projects: `{one}` and `{other}`"
                ))
                .hint("a comment is about one project: name the folders of one only"));
            }
        };
        Ok(Self { project, runs })
    }

    /// Returns each stack with the number of the newest run that planned it, in the order of the runs.
    pub fn stacks(&self) -> Vec<(usize, &StackId)> {
        let mut found: Vec<(usize, &StackId)> = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            for stack in &run.report.stacks {
                match found.iter_mut().find(|(_, id)| **id == stack.id) {
                    Some(known) => known.0 = number,
                    None => found.push((number, &stack.id)),
                }
            }
        }
        found
    }

    /// Returns what is to be said, where the pull request is at this commit now.
    pub async fn comment(
        &self,
        told: &Surroundings,
        head: Option<String>,
        moved_on: &BTreeSet<StackId>,
        context: &Context,
    ) -> PlanComment {
        let here = checked_out(context).await;
        let runs: Vec<PlanningRun> =
            self.runs.iter().map(|run| planning_run(run, told, head.as_deref(), here.as_deref())).collect();
        let stacks = self.stacks().into_iter().filter_map(|(run, id)| self.stack(run, id, moved_on));
        PlanComment {
            project: self.project.clone(),
            stacks: stacks.collect(),
            rendered: self.rendered(),
            head: head.or(here).filter(|_| runs.iter().any(|run| run.is_older)),
            runs,
        }
    }

    /// Returns what became of the rendered files: of jobs of one matrix it is the same.
    fn rendered(&self) -> Vec<String> {
        let mut rendered: Vec<String> = Vec::new();
        for diff in self.runs.iter().filter_map(|run| run.rendered.clone()) {
            if !rendered.contains(&diff) {
                rendered.push(diff);
            }
        }
        rendered
    }

    fn stack(&self, run: usize, id: &StackId, moved_on: &BTreeSet<StackId>) -> Option<PlannedStack> {
        let recorded = self.runs.get(run)?;
        let report = recorded.report.stacks.iter().find(|stack| stack.id == *id)?.clone();
        let text = recorded.texts.get(id).cloned().unwrap_or_default();
        Some(PlannedStack { moved_on: moved_on.contains(id), report, text, run })
    }
}

/// Says what is known of a run, and whether the pull request is at another commit by now.
fn planning_run(
    run: &RecordedPlans,
    told: &Surroundings,
    head: Option<&str>,
    here: Option<&str>,
) -> PlanningRun {
    let origin = &run.origin;
    // What this job was started for is what was planned, if it is the same checkout.
    let is_of_this_job = match origin.checkout.as_deref() {
        Some(planned) => {
            Some(planned) == told.checkout.as_deref()
                || Some(planned) == here
                || told.head.as_deref().is_some_and(|head| origin.is_of(head))
        }
        None => origin.head.is_none(),
    };
    let of_this_job = told.head.as_deref().filter(|_| is_of_this_job);
    let commit = origin.head.as_deref().or(of_this_job).or(origin.checkout.as_deref());
    let now = head.or(here);
    let is_older = match (commit, now) {
        (Some(commit), Some(now)) => commit != now && !origin.is_of(now),
        _ => false,
    };
    PlanningRun {
        id: run.report.run_id.clone(),
        at: run.report.started,
        commit: commit.map(str::to_owned),
        is_older,
        address: origin.address.clone(),
        purpose: (run.mode != PlanMode::Normal).then(|| run.mode.to_string()),
    }
}

fn read_plans(dir: &Path) -> Result<RecordedPlans> {
    let plans = RecordedPlans::read(dir)?;
    match plans.report.command {
        RunCommand::Plan => Ok(plans),
        other => {
            Err(Error::invalid(format!("`{}` is the record of `infra {}`", dir.display(), other.name()))
                .detail("a comment is made from plans")
                .hint("make one: `infra plan`"))
        }
    }
}

/// Returns the folder of the newest plan; one that did not end is not passed over for an older one.
fn newest_plan(context: &Context) -> Result<PathBuf> {
    let project = project::load(&root_of(context)?)?;
    let runs = PastRun::all(&project.runs_dir());
    let newest = runs.into_iter().find(|run| run.command == RunCommand::Plan).ok_or_else(|| {
        Error::invalid("there is no plan to comment on")
            .hint("make one: `infra plan --all`")
            .hint("or name the folder of a run that another job made: `infra comment --report DIR`")
    })?;
    match newest.report {
        Some(_) => Ok(project.runs_dir().join(&newest.run_id)),
        None => Err(Error::invalid(format!("the newest plan, {}, did not come to its end", newest.run_id))
            .hint("plan again: `infra plan --all`")),
    }
}

/// Returns the commit that is checked out here, where this is a checkout of the project.
async fn checked_out(context: &Context) -> Option<String> {
    let root = project::find_root(&context.cwd).ok()?;
    let git = Git::around(&root, &context.env, &context.interrupts)?;
    git.commit_with_parents().await?.into_iter().next()
}
