//! From chosen stacks to a [`RunPlan`]: steps, order, inputs, variable files.
//!
//! Reads folders to find variable files, and decides everything before anything runs.

use std::path::PathBuf;

use crate::engine::plan::SavedPlans;
use crate::engine::variables::var_files;
use crate::error::{Error, Result};
use crate::model::{Project, RunCommand, RunPlan, Stack, StackId, StackRun, Step};
use crate::stacks;
use crate::stacks::{Direction, RunOrder, SettingsBook};

/// Whether the command line names files of variables.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GivenFiles {
    /// Yes: none is guessed.
    Some,
    /// No.
    None,
}

/// What a run is asked to do, and to which stacks.
#[derive(Clone, Copy, Debug)]
pub struct RunChoice<'a> {
    /// The chosen stacks.
    pub chosen: &'a [StackId],
    /// What is done.
    pub command: RunCommand,
    /// Whether the command line names files of variables.
    pub given: GivenFiles,
}

/// Decides what a run will do.
pub fn resolve_run_plan(project: &Project, all: &[Stack], choice: RunChoice<'_>) -> Result<RunPlan> {
    let RunChoice { chosen, command, given } = choice;
    let direction = if command == RunCommand::Destroy { Direction::Down } else { Direction::Up };
    let RunOrder { waves: order, after } = stacks::run_order(project, all, chosen, direction)?;
    let is_alone = chosen.len() == 1;
    let choice = Choice { project, all, book: SettingsBook::of(project), command, given, is_alone };
    let mut waves = Vec::new();
    for wave in order {
        let runs = wave.iter().map(|id| {
            // Where no stack waits for another, the order is only the one they are listed in.
            let after = after.get(id).filter(|_| command.is_ordered()).into_iter().flatten();
            let after = after.cloned().collect();
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
    given: GivenFiles,
    /// Whether one stack is chosen, whose question then ends the command; else it ends that stack alone.
    is_alone: bool,
}

fn stack_run(choice: &Choice<'_>, id: &StackId) -> Result<StackRun> {
    let Choice { project, all, book, command, given, is_alone } = choice;
    let stack = all.iter().find(|stack| stack.id == *id);
    let stack = stack.ok_or_else(|| Error::bug(format!("`{id}` was chosen but not found")))?;
    let settings = book.settings_for(id);
    let mut stack = stack.clone();
    let var_files = match given {
        GivenFiles::Some if settings.var_files.is_empty() => Ok(Vec::new()),
        GivenFiles::None if settings.var_files.is_empty() && takes_given(project, id, *command) => {
            Ok(Vec::new())
        }
        _ => needed_var_files(project, &stack, &settings.var_files, *command),
    };
    let var_files = var_files.or_else(|error| match is_alone {
        true => Err(error),
        false => {
            stack.problems.push(format!("{}; {}", error.message(), error.hints().join("; ")));
            Ok(Vec::new())
        }
    })?;
    Ok(StackRun {
        steps: steps_of(*command),
        inputs: stacks::inputs_by(&settings, all, id)?,
        var_files,
        protect: settings.is_protected(),
        pool: settings.pool,
        env: settings.env,
        ..StackRun::bare(stack)
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

/// Returns whether a saved plan would be applied that was made with files of the command line.
fn takes_given(project: &Project, id: &StackId, command: RunCommand) -> bool {
    let saved = SavedPlans::at(project.plans_dir());
    let record = (command == RunCommand::Apply).then(|| saved.load(id).ok().flatten()).flatten();
    record.is_some_and(|record| record.given.is_some_and(|given| given.has_files))
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
