//! From chosen stacks to a [`RunPlan`]: steps, order, inputs, variable files.
//!
//! Reads folders to find variable files, and decides everything before anything runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::var_files::var_files;
use crate::error::{Error, Result};
use crate::model::{Project, RunCommand, RunPlan, Stack, StackId, StackRun, Step};
use crate::stacks::{self, Direction, SettingsBook};

/// Decides what a run will do.
pub fn resolve_run_plan(
    project: &Project,
    all: &[Stack],
    chosen: &[StackId],
    command: RunCommand,
) -> Result<RunPlan> {
    let direction = if command == RunCommand::Destroy { Direction::Down } else { Direction::Up };
    let before = match command.is_ordered() {
        true => stacks::after(project, all, chosen, direction)?,
        false => BTreeMap::new(),
    };
    let choice = Choice { project, all, book: SettingsBook::of(project), command };
    let mut waves = Vec::new();
    for wave in stacks::waves(project, all, chosen, direction)? {
        let runs = wave.iter().map(|id| {
            let after = before.get(id).into_iter().flatten().cloned().collect();
            Ok(StackRun { after, ..stack_run(&choice, id)? })
        });
        waves.push(runs.collect::<Result<Vec<_>>>()?);
    }
    Ok(RunPlan { command, project: project.name.clone(), waves })
}

/// What every stack of the run is decided from.
struct Choice<'a> {
    project: &'a Project,
    all: &'a [Stack],
    book: SettingsBook<'a>,
    command: RunCommand,
}

fn stack_run(choice: &Choice<'_>, id: &StackId) -> Result<StackRun> {
    let Choice { project, all, book, command } = choice;
    let stack = all.iter().find(|stack| stack.id == *id);
    let stack = stack.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))?;
    let settings = book.settings_for(id);
    Ok(StackRun {
        steps: steps_of(*command),
        inputs: stacks::inputs_by(&settings, all, id)?,
        var_files: needed_var_files(project, stack, &settings.var_files, *command)?,
        protect: settings.is_protected(),
        pool: settings.pool,
        env: settings.env,
        ..StackRun::bare(stack.clone())
    })
}

fn steps_of(command: RunCommand) -> Vec<Step> {
    match command {
        RunCommand::Init => vec![Step::Init],
        RunCommand::Validate => vec![Step::Init, Step::Validate],
        RunCommand::Plan | RunCommand::Drift => vec![Step::Init, Step::Plan],
        RunCommand::Test => vec![Step::Init, Step::Test],
        RunCommand::Apply | RunCommand::Destroy => vec![Step::Init, Step::Plan, Step::Approve, Step::Apply],
    }
}

fn needed_var_files(
    project: &Project,
    stack: &Stack,
    named: &[String],
    command: RunCommand,
) -> Result<Vec<PathBuf>> {
    match command {
        RunCommand::Init | RunCommand::Validate => Ok(Vec::new()),
        RunCommand::Plan | RunCommand::Apply | RunCommand::Destroy | RunCommand::Drift | RunCommand::Test => {
            var_files(&stack.id, &project.root.join(&stack.path), named)
        }
    }
}
