//! Where copies of what was applied lie beside the states: in the store that this process
//! serves, or on another server. A store of the project's own has no shelf.

use std::collections::BTreeMap;

use super::session::{Session, StateAccess, remote_environment};
use crate::error::Result;
use crate::model::{Backend, Environment, Stack};
use crate::state::{RemoteState, StateName, StateStore};

/// Where copies of what was applied lie beside the states, for everybody who shares them.
#[derive(Debug)]
pub(super) enum Shelf<'a> {
    /// In the store that this process serves.
    Store(&'a StateStore),
    /// On another server.
    Server(Box<RemoteState>),
}

impl Session {
    /// Returns where the copy of a stack lies; nothing where nobody shares its state.
    pub(super) fn shelf_of(&self, stack: &Stack) -> Result<Option<Shelf<'_>>> {
        match stack.backend {
            Backend::Embedded => self.shelf_with(|_| self.environment_of(stack, &BTreeMap::new())),
            _ => Ok(None),
        }
    }

    /// Returns where the copy beside the state with this name lies.
    pub(super) fn shelf_at(&self, name: &StateName) -> Result<Option<Shelf<'_>>> {
        self.shelf_with(|url| Ok(remote_environment(self.some_environment()?, url, name)))
    }

    /// Returns where all copies lie.
    pub(super) fn shelf(&self) -> Result<Option<Shelf<'_>>> {
        self.shelf_with(|url| Ok(self.some_environment()?.with("TF_HTTP_ADDRESS", url)))
    }

    fn shelf_with(&self, env: impl FnOnce(&str) -> Result<Environment>) -> Result<Option<Shelf<'_>>> {
        match &self.access {
            // The project's own folder is shared with nobody.
            StateAccess::Embedded(server) if self.project.state.store.is_some() => {
                Ok(Some(Shelf::Store(server.store())))
            }
            StateAccess::Remote(url) => {
                Ok(Some(Shelf::Server(Box::new(RemoteState::from_environment(&env(url)?)?))))
            }
            StateAccess::Embedded(_) | StateAccess::Nobody => Ok(None),
        }
    }

    /// Returns the environment of any stack that has credentials for the server, or of none.
    fn some_environment(&self) -> Result<Environment> {
        let has_secrets = |stack: &&Stack| self.secrets_of(&stack.id).is_some();
        match self.stacks.iter().filter(|stack| stack.backend == Backend::Embedded).find(has_secrets) {
            Some(stack) => self.environment_of(stack, &BTreeMap::new()),
            None => Ok(self.env.clone()),
        }
    }
}
