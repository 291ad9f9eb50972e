//! The arguments that choose stacks, the same for every command that takes them.

use clap::Args;

use crate::stacks::Selection;

/// Which stacks a command is about.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Choosing stacks")]
pub struct StackArgs {
    /// Stacks by path, last part of the path, layer, tag or glob
    #[arg(value_name = "STACK")]
    pub names: Vec<String>,
    /// A stack; the same as naming it
    #[arg(long = "stack", value_name = "S")]
    pub stack: Vec<String>,
    /// All stacks of a layer: `02-platforms`, `platforms` or `2`
    #[arg(long, value_name = "L")]
    pub layer: Vec<String>,
    /// All stacks with a tag
    #[arg(long, value_name = "T")]
    pub tag: Vec<String>,
    /// All stacks
    #[arg(long)]
    pub all: bool,
    /// Leave stacks out
    #[arg(long, value_name = "S")]
    pub exclude: Vec<String>,
    /// Also the stacks that the chosen ones depend on
    #[arg(long)]
    pub with_dependencies: bool,
    /// Also the stacks that depend on the chosen ones
    #[arg(long)]
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

    /// Returns the choice as data.
    pub fn selection(&self) -> Selection {
        Selection {
            names: self.names.iter().chain(&self.stack).cloned().collect(),
            layers: self.layer.clone(),
            tags: self.tag.clone(),
            all: self.all,
            exclude: self.exclude.clone(),
            with_dependencies: self.with_dependencies,
            with_dependents: self.with_dependents,
        }
    }
}
