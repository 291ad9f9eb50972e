//! How a state is encrypted before it leaves this machine.

use zeroize::Zeroizing;

use crate::engine::session::Session;
use crate::engine::stack::bare_run;
use crate::engine::variables::{SearchedPart, declares};
use crate::error::Result;
use crate::model::Stack;
use crate::tofu;
use crate::tofu::StateKey;

/// How a state is encrypted before it leaves this machine.
#[derive(Debug)]
pub enum Sealing<'a> {
    /// Not at all.
    Plain,
    /// With the passphrase in the stack's secrets.
    Key(&'a StateKey),
    /// In a way that only tofu knows.
    Foreign,
}

impl<'a> Sealing<'a> {
    /// Finds out how the state of a stack is encrypted.
    pub fn of(session: &'a Session, stack: &Stack) -> Result<Self> {
        if let Some(key) = session.secrets_of(&stack.id).and_then(|secrets| secrets.state_key.as_ref()) {
            return Ok(Self::Key(key));
        }
        Ok(if is_encrypted_by_tofu(session, stack)? { Self::Foreign } else { Self::Plain })
    }

    /// Returns a state as tofu would store it; `None` if only tofu can.
    pub fn sealed(&self, state: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>> {
        match self {
            Self::Plain => Ok(Some(Zeroizing::new(state.to_vec()))),
            Self::Key(key) => tofu::seal_state(state, key).map(|bytes| Some(Zeroizing::new(bytes))),
            Self::Foreign => Ok(None),
        }
    }
}

/// Returns whether something other than a passphrase of infra tells tofu how to encrypt a state.
pub(super) fn is_encrypted_by_tofu(session: &Session, stack: &Stack) -> Result<bool> {
    if declares(&session.dir_of(stack), SearchedPart::States) {
        return Ok(true);
    }
    let has_key = session.secrets_of(&stack.id).is_some_and(|secrets| secrets.state_key.is_some());
    let env = session.environment_of(stack, &bare_run(session, stack).env)?;
    Ok(!has_key && env.get("TF_ENCRYPTION").is_some())
}
