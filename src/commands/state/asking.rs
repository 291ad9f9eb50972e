//! The question before a state goes somewhere else: asked in a terminal, or answered beforehand.

use crate::commands::Context;
use crate::error::{Error, Result};
use crate::report::{Asking, confirm};

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
        let mut interrupts = context.interrupts.clone();
        let yes = tokio::select! {
            yes = confirm(&terminal, &self.text) => yes,
            _ = interrupts.beyond(0) => return Err(Error::interrupted("nothing was done")),
        };
        if yes { Ok(()) } else { Err(Error::failed("nothing was done")) }
    }
}
