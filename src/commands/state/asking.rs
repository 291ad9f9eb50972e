//! The question before a state goes somewhere else: which stacks it is about, asked in a terminal or
//! answered beforehand.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::Context;
use crate::commands::args::stack_names;
use crate::error::{Error, Result};
use crate::report::Asking;

/// One stack or all of them, and the yes.
#[derive(Args, Debug)]
pub(super) struct StackOrAll {
    /// The stack; `recover` and `forget` also take one that is gone from the tree
    #[arg(value_name = "STACK", required_unless_present = "all", conflicts_with = "all", add = ArgValueCompleter::new(stack_names))]
    pub stack: Option<String>,
    /// Every stack that it concerns
    #[arg(long)]
    pub all: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
}

/// A question about states.
#[derive(Debug)]
pub(super) struct StateQuestion<'a> {
    /// The command, as it is typed after `infra state`.
    pub command: &'a str,
    /// The question.
    pub text: String,
    /// Whether the yes was given on the command line.
    pub yes: bool,
}

/// Refuses a question that nobody could answer, before anything is looked at.
pub(super) fn check_can_ask(command: &str, yes: bool, context: &Context) -> Result<()> {
    if yes || context.asking() != Asking::Nobody {
        return Ok(());
    }
    Err(Error::usage(format!("`state {command}` has to ask, but there is no terminal"))
        .hint("say yes beforehand: `--yes`"))
}

impl StateQuestion<'_> {
    /// Asks; a no is an error that says that nothing was done.
    pub async fn ask(&self, context: &Context) -> Result<()> {
        check_can_ask(self.command, self.yes, context)?;
        let Asking::Person(terminal) = context.asking() else { return Ok(()) };
        if self.yes {
            return Ok(());
        }
        context.require_yes(&terminal, &self.text, "nothing was done").await
    }
}
