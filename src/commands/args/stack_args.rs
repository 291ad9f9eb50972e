//! The arguments that choose stacks, the same for every command that takes them.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap::Args;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};

use super::headings::CHOOSING;
use crate::model::{Stack, quoted};
use crate::project;
use crate::stacks;
use crate::stacks::Selection;

/// Which stacks a command is about.
#[derive(Args, Clone, Debug, Default)]
pub struct StackArgs {
    /// Stacks by id, last part of the id, layer, tag, glob or folder (`.`)
    #[arg(help_heading = CHOOSING, value_name = "STACK", add = ArgValueCompleter::new(stack_names))]
    pub names: Vec<String>,
    /// A stack; the same as naming it
    #[arg(help_heading = CHOOSING, long = "stack", value_name = "S", add = ArgValueCompleter::new(stack_names))]
    pub stack: Vec<String>,
    /// All stacks of a layer: `02-platforms`, `platforms` or `2`
    #[arg(help_heading = CHOOSING, long, value_name = "L")]
    pub layer: Vec<String>,
    /// All stacks with a tag
    #[arg(help_heading = CHOOSING, long, value_name = "T")]
    pub tag: Vec<String>,
    /// All stacks
    #[arg(help_heading = CHOOSING, long)]
    pub all: bool,
    /// Only those that changed since the merge base with a commit or branch, else with the main branch
    #[arg(
        help_heading = CHOOSING,
        long,
        value_name = "BASE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub changed: Option<String>,
    /// Leave stacks out
    #[arg(help_heading = CHOOSING, long, value_name = "S", add = ArgValueCompleter::new(stack_names))]
    pub exclude: Vec<String>,
    /// Only those of this workspace; a named stack without `workspaces` runs in it
    #[arg(help_heading = CHOOSING, long, value_name = "W", add = ArgValueCompleter::new(workspace_names))]
    pub workspace: Option<String>,
    /// Create the workspace if a named stack does not have it
    #[arg(help_heading = CHOOSING, long)]
    pub create: bool,
    /// Also the stacks that the chosen ones depend on
    #[arg(help_heading = CHOOSING, long)]
    pub with_dependencies: bool,
    /// Also the stacks that depend on the chosen ones
    #[arg(help_heading = CHOOSING, long)]
    pub with_dependents: bool,
}

impl StackArgs {
    /// Returns the choice of all stacks.
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Returns the choice of one stack, or of none.
    pub fn one(stack: Option<String>) -> Self {
        Self { stack: stack.into_iter().collect(), ..Self::default() }
    }

    /// Returns the choice as it could be typed again; `None` if nothing was chosen.
    pub fn typed(&self) -> Option<String> {
        if self.selection().is_empty() {
            return None;
        }
        let with = |flag: &'static str, values: &[String]| {
            values.iter().map(|value| format!("{flag}{}", quoted(value))).collect::<Vec<_>>()
        };
        let switch = |is_on: bool, flag: &str| is_on.then(|| flag.to_owned());
        let mut words =
            [with("", &self.names), with("", &self.stack), with("--layer ", &self.layer)].concat();
        words.extend(with("--tag ", &self.tag));
        words.extend(switch(self.all, "--all"));
        words.extend(self.changed.as_ref().map(|base| match base.as_str() {
            "" => "--changed".to_owned(),
            base => format!("--changed={}", quoted(base)),
        }));
        words.extend(with("--exclude ", &self.exclude));
        words.extend(with("--workspace ", self.workspace.as_slice()));
        words.extend(switch(self.with_dependencies, "--with-dependencies"));
        words.extend(switch(self.with_dependents, "--with-dependents"));
        Some(words.join(" "))
    }

    /// Returns the choice as data.
    pub fn selection(&self) -> Selection {
        Selection {
            names: self.names.iter().chain(&self.stack).cloned().collect(),
            layers: self.layer.clone(),
            tags: self.tag.clone(),
            all: self.all,
            changed: self.changed.is_some(),
            exclude: self.exclude.clone(),
            workspace: self.workspace.clone(),
            with_dependencies: self.with_dependencies,
            with_dependents: self.with_dependents,
            reads: false,
            one: false,
        }
    }
}

/// Returns the stacks whose id or last part begins with what was typed, or the folders of a path, for a
/// completing shell.
pub fn stack_names(typed: &OsStr) -> Vec<CompletionCandidate> {
    if stacks::is_path(&typed.to_string_lossy()) {
        return PathCompleter::dir().complete(typed);
    }
    let typed = typed.to_string_lossy();
    let stacks = load_stacks().unwrap_or_default();
    let ids = stacks.iter().flat_map(|stack| [stack.id.clone(), stack.base_id()]);
    let names = ids.flat_map(|id| [id.short_name().to_owned(), id.to_string()]);
    let names: BTreeSet<String> = names.filter(|name| name.starts_with(&*typed)).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// Returns the declared workspaces that begin with what was typed, for a completing shell.
pub fn workspace_names(typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let stacks = load_stacks().unwrap_or_default();
    let names = stacks.iter().filter_map(Stack::declared_workspace);
    let names: BTreeSet<&str> = names.filter(|name| name.starts_with(&*typed)).collect();
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// A shell that completes wants names or nothing, never an error.
fn load_stacks() -> Option<Vec<Stack>> {
    let root = project::find_root(&std::env::current_dir().ok()?).ok()?;
    let project = project::load(&root).ok()?;
    Some(stacks::discover(&project).ok()?.stacks)
}
