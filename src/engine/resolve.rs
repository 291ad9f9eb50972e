//! From chosen stacks to a [`RunPlan`]: steps, order, inputs, variable files.
//!
//! Reads folders to find variable files, and decides everything before anything runs.

use std::path::PathBuf;

use super::var_files::var_files;
use crate::error::{Error, Result};
use crate::model::{Project, RunCommand, RunPlan, Stack, StackId, StackRun, Step};
use crate::stacks::{self, Direction};

/// Decides what a run will do.
pub fn resolve_run_plan(
    project: &Project,
    all: &[Stack],
    chosen: &[StackId],
    command: RunCommand,
) -> Result<RunPlan> {
    let direction = if command == RunCommand::Destroy { Direction::Down } else { Direction::Up };
    let order = stacks::waves(project, all, chosen, direction)?;
    let mut waves = Vec::new();
    for wave in order {
        let runs = wave.iter().map(|id| stack_run(project, all, chosen, (id, command)));
        waves.push(runs.collect::<Result<Vec<_>>>()?);
    }
    Ok(RunPlan { command, project: project.name.clone(), waves })
}

fn stack_run(project: &Project, all: &[Stack], chosen: &[StackId], (id, command): (&StackId, RunCommand)) -> Result<StackRun> {
    let stack = all.iter().find(|stack| stack.id == *id);
    let stack = stack.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))?;
    let settings = stacks::settings_for(project, id);
    let direction = if command == RunCommand::Destroy { Direction::Down } else { Direction::Up };
    let after = match command.is_ordered() {
        true => stacks::must_come_before(project, all, chosen, id, direction),
        false => Vec::new(),
    };
    Ok(StackRun {
        stack: stack.clone(),
        steps: steps_of(command),
        after,
        inputs: settings.inputs,
        var_files: needed_var_files(project, stack, &settings.var_files, command)?,
        env: settings.env,
        protect: settings.protect,
    })
}

fn steps_of(command: RunCommand) -> Vec<Step> {
    match command {
        RunCommand::Init => vec![Step::Init],
        RunCommand::Validate => vec![Step::Init, Step::Validate],
        RunCommand::Plan => vec![Step::Init, Step::Plan],
        RunCommand::Apply | RunCommand::Destroy => vec![Step::Init, Step::Plan, Step::Approve, Step::Apply],
    }
}

fn needed_var_files(project: &Project, stack: &Stack, named: &[String], command: RunCommand) -> Result<Vec<PathBuf>> {
    match command {
        RunCommand::Init | RunCommand::Validate => Ok(Vec::new()),
        RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy => {
            var_files(&stack.id, &project.root.join(&stack.path), named)
        }
    }
}
