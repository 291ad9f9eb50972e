//! A run that is decided, before anything starts: the project, the chosen stacks, what is done to them.
//!
//! Made in one place, from the request and the files alone. Begin at [`prepare`].

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use tempfile::TempDir;

use super::bundles::Bundling;
use super::chosen_stacks::choose;
use super::dependents::{DependentStacks, with_dependents};
use super::request::Request;
use super::temporary_folder::use_temporary_folder;
use crate::commands::Context;
use crate::commands::loaded_project::{LoadedProject, tell_lost};
use crate::engine;
use crate::engine::{Approval, RunChoice, RunOptions, WhenToInit};
use crate::error::{Exit, Kind, Result};
use crate::model::{RemainingStacks, RunCommand, RunPlan, StackId};
use crate::process;
use crate::report::{Asking, ResumeRequest, Resumption, read_durations, resumption};

/// A run that is decided.
#[derive(Debug)]
pub struct Prepared {
    /// The project and all of its stacks, removed ones that matter included.
    pub loaded: LoadedProject,
    /// The chosen stacks.
    pub chosen: Vec<StackId>,
    /// What is done to them, in which order.
    pub plan: RunPlan,
    /// What depends on stacks that are to be destroyed.
    pub dependent_stacks: DependentStacks,
    /// A folder in place of `.infra` where that cannot be written; it is removed after the run.
    _temporary_folder: Option<TempDir>,
}

/// What a request comes to.
#[derive(Debug)]
pub enum Preparation {
    /// A run.
    Run(Box<Prepared>),
    /// No stack is chosen; the person was told.
    Nothing,
    /// What is to be destroyed cannot be destroyed; the person was told.
    Lost(Exit),
}

/// Decides what is run.
pub async fn prepare(request: &mut Request, context: &Context) -> Result<Preparation> {
    let mut loaded = LoadedProject::load_for(context, &request.stacks).await?;
    let temporary_folder = match request.command {
        RunCommand::Validate => use_temporary_folder(&mut loaded.project),
        _ => None,
    };
    if request.run.resume {
        resume(&loaded, request, context)?;
    }
    let mut gone = Vec::new();
    if request.removed {
        let removed = loaded.removed_stacks(context).await?;
        gone.extend(removed.iter().map(|removed| removed.stack.id.clone()));
        let lost = loaded.lost_stacks(context).await?;
        tell_lost(&lost, context);
        loaded.include(removed);
        if gone.is_empty() && !lost.is_empty() {
            return Ok(Preparation::Lost(Kind::Failed.exit()));
        }
    }
    let chosen = choose(&loaded, request, &gone, context)?;
    if chosen.is_empty() {
        return Ok(Preparation::Nothing);
    }
    let chosen = with_dependents(&mut loaded, request, chosen, context).await?;
    let choice = RunChoice { chosen: &chosen, command: request.command, given: request.gives_files() };
    let plan = engine::resolve_run_plan(&loaded.project, &loaded.stacks, choice)?;
    let dependent_stacks = DependentStacks::on(&loaded, request, &chosen)?;
    Ok(Preparation::Run(Box::new(Prepared {
        loaded,
        chosen,
        plan,
        dependent_stacks,
        _temporary_folder: temporary_folder,
    })))
}

/// Makes the request one about what earlier runs of its command left undone.
fn resume(loaded: &LoadedProject, request: &mut Request, context: &Context) -> Result<()> {
    let asked = ResumeRequest { command: request.command, mode: request.mode, removed: request.removed };
    let is_stack = |id: &StackId| loaded.stacks.iter().any(|stack| stack.id == *id);
    let Resumption { stacks, mode, removed, notes } =
        resumption(&loaded.project.runs_dir(), asked, process::may_live, is_stack)?;
    notes.iter().for_each(|note| context.terminal.note(note));
    if let Some(mode) = mode {
        request.removed = removed;
        request.mode = if request.command == RunCommand::Plan { mode } else { request.mode };
    }
    request.undone = Some(stacks);
    Ok(())
}

impl Prepared {
    /// Returns how the run behaves beyond what its plan says.
    pub fn options(&self, request: &Request, context: &Context, bundling: &Bundling) -> RunOptions {
        let (project, stacks) = (&self.loaded.project, self.chosen.len());
        let run_id = new_run_id(context);
        RunOptions {
            bundle: bundling.for_engine(),
            private_dir: project.runs_dir().join(&run_id).join("plans"),
            run_id,
            approval: request.approval(),
            attributes: request.shows_attributes(stacks),
            whole_plans: stacks == 1 && request.approval() == Approval::Ask,
            has_person: context.asking() != Asking::Nobody,
            trusted: context.trust.covers(&project.root),
            mode: request.mode,
            init: if request.run.init { WhenToInit::Always } else { WhenToInit::Needed },
            plans_dir: request.plans_dir.clone().unwrap_or_else(|| project.plans_dir()),
            lock_timeout: request.run.lock_timeout.clone(),
            extra: request.extra.clone(),
            remaining: RemainingStacks::default(),
            allow_destroy: request.allow_destroy,
            detailed_exitcode: request.detailed_exitcode,
            parallelism: parallelism(request, project.run.parallelism, stacks),
            fail_fast: request.run.fail_fast,
            durations: if stacks > 1 {
                read_durations(&project.runs_dir(), request.command)
            } else {
                BTreeMap::new()
            },
        }
    }
}

/// Returns an id that sorts by time; two runs in one millisecond still differ.
pub(super) fn new_run_id(context: &Context) -> String {
    let now = context.clock.now().strftime("%Y%m%dT%H%M%S%.3f").to_string();
    format!("{now}-{}", process::this_process())
}

/// Returns how many stacks run at once: as the command line says, or the project, or as many as the machine can run.
fn parallelism(request: &Request, configured: Option<usize>, stacks: usize) -> usize {
    let wanted = request.run.parallelism.map(NonZeroUsize::get).or(configured);
    match wanted {
        Some(wanted) => wanted.max(1),
        None if stacks <= 1 => 1,
        None => process::bearable_parallelism(),
    }
}
