//! Stacks that a reading command leaves out, because their state is not where it is looked for.

use crate::commands::Context;
use crate::engine;
use crate::engine::Session;
use crate::error::{Error, Exit, Result};
use crate::model::StackId;
use crate::report::show_error;

/// The stacks that can be read, and what to say of the others.
#[derive(Debug)]
pub struct ReadableStates {
    /// Those that can be read.
    pub stacks: Vec<StackId>,
    left_out: Vec<Error>,
}

impl ReadableStates {
    /// Looks where the states of stacks are; where none can be read, that is the error.
    pub async fn of(session: &Session, chosen: &[StackId]) -> Result<Self> {
        let (stacks, mut left_out) = engine::sound_states(session, chosen).await;
        if !stacks.is_empty() || left_out.is_empty() {
            return Ok(Self { stacks, left_out });
        }
        let first = left_out.remove(0);
        Err(left_out.into_iter().fold(first, |error, other| error.detail(other.message())))
    }

    /// Tells which stacks were left out, and returns the exit code of the command.
    pub fn end(&self, context: &Context) -> Exit {
        self.left_out.iter().for_each(|error| show_error(&context.terminal, error));
        self.left_out.first().map_or(Exit::OK, Error::exit)
    }
}
