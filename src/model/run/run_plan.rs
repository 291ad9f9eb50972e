//! The run before it happens: which stacks, which steps, in which order, with what.
//!
//! A `RunPlan` is pure and printable. Everything left of it is choice, everything
//! right of it is effect; a dry run prints it and stops.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::OutputRef;
use crate::model::wording::counted;
use crate::model::{Stack, StackId};

/// What a run does to its stacks.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunCommand {
    /// Prepares the working directory.
    Init,
    /// Checks the configuration without the state.
    Validate,
    /// Plans and saves the plan.
    Plan,
    /// Plans where no plan is saved, asks, and applies.
    Apply,
    /// Plans the destruction, asks, and applies.
    Destroy,
    /// Finds out what changed outside.
    Drift,
    /// Runs the tests of the configuration.
    Test,
}

impl RunCommand {
    /// Returns the word that users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Validate => "validate",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::Destroy => "destroy",
            Self::Drift => "drift",
            Self::Test => "test",
        }
    }

    /// Returns whether a failed stack keeps those above it from running.
    pub const fn is_ordered(self) -> bool {
        matches!(self, Self::Apply | Self::Destroy)
    }
}

/// What a plan is for.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    /// Making the machines what the files say.
    #[default]
    Normal,
    /// Destroying everything.
    Destroy,
    /// Only finding out what changed outside.
    RefreshOnly,
}

impl fmt::Display for PlanMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "to change things",
            Self::Destroy => "to destroy everything",
            Self::RefreshOnly => "to take over what changed outside",
        })
    }
}

/// One step in the life of a stack run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// `tofu init`, skipped when nothing it depends on changed.
    Init,
    /// `tofu validate`.
    Validate,
    /// `tofu plan`.
    Plan,
    /// A person's yes.
    Approve,
    /// `tofu apply` of a saved plan.
    Apply,
    /// `tofu test`.
    Test,
}

impl Step {
    /// Returns what is shown while the step runs.
    pub const fn doing(self) -> &'static str {
        match self {
            Self::Init => "initialising",
            Self::Validate => "validating",
            Self::Plan => "planning",
            Self::Approve => "waiting for approval",
            Self::Apply => "applying",
            Self::Test => "testing",
        }
    }
}

/// One stack in a run.
#[derive(Clone, Debug)]
pub struct StackRun {
    /// The stack.
    pub stack: Stack,
    /// What happens to it, in order.
    pub steps: Vec<Step>,
    /// The chosen stacks that must have succeeded before it.
    pub after: Vec<StackId>,
    /// Its variables that come from other stacks' outputs.
    pub inputs: BTreeMap<String, OutputRef>,
    /// Its plain variable files, relative to the stack.
    pub var_files: Vec<PathBuf>,
    /// Its own variables of the environment.
    pub env: BTreeMap<String, String>,
    /// Whether destroying anything in it always asks.
    pub protect: bool,
    /// What limits how many of its kind run at once.
    pub pool: Option<String>,
}

impl StackRun {
    /// Makes a run of a stack with nothing special about it and no steps.
    pub fn bare(stack: Stack) -> Self {
        Self {
            stack,
            steps: Vec::new(),
            after: Vec::new(),
            inputs: BTreeMap::new(),
            var_files: Vec::new(),
            env: BTreeMap::new(),
            protect: false,
            pool: None,
        }
    }
}

/// A whole run: waves of stacks, one wave after the other.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// What is done.
    pub command: RunCommand,
    /// The project's name.
    pub project: String,
    /// Groups of stacks that do not depend on each other, in order.
    pub waves: Vec<Vec<StackRun>>,
}

impl RunPlan {
    /// Returns the stack runs in order.
    pub fn stacks(&self) -> impl Iterator<Item = &StackRun> {
        self.waves.iter().flatten()
    }
}

impl fmt::Display for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = counted(self.stacks().count(), "stack");
        writeln!(f, "{} · {} · {count}", self.project, self.command.name())?;
        for (number, wave) in self.waves.iter().enumerate() {
            for run in wave {
                let steps = run.steps.iter().map(|step| format!("{step:?}").to_lowercase());
                writeln!(
                    f,
                    "{:>3}  {}  {}",
                    number + 1,
                    run.stack.id,
                    steps.collect::<Vec<_>>().join(" → ")
                )?;
            }
        }
        Ok(())
    }
}
