//! Where the states of stacks lie, and what they are called there.

use std::path::Path;

use super::shared::Session;
use crate::backends::{HomeParts, KnownState, StateHome, home_of, noted_kind, state_name, workspace_in_use};
use crate::error::Result;
use crate::model::{Backend, Stack, StackId, StateLock};
use crate::stacks;
use crate::state::StateName;

impl Session {
    /// Returns the lock of a stack whose state lies in a store that this program opens itself.
    pub async fn lock_of(&self, stack: &Stack) -> Result<Option<StateLock>> {
        match self.home_of(stack)? {
            home @ StateHome::Store { .. } => home.lock_of().await,
            _ => Ok(None),
        }
    }

    /// Releases a lock that a child of this process left behind; the child must be dead.
    pub async fn release_left_lock(&self, stack: &Stack) -> Result<bool> {
        match (&self.embedded, &stack.backend) {
            (Some(server), Backend::Embedded) => {
                server.release_locks_of_this_process(&self.state_name_of(stack)?).await
            }
            _ => Ok(false),
        }
    }

    /// Returns the name that the state of a stack has: its own, or the one that it still has from before.
    pub(super) fn state_name_of(&self, stack: &Stack) -> Result<StateName> {
        match self.former_names.borrow().get(&stack.id) {
            Some(former) => StateName::parse(&former.state_name()),
            None => state_name(stack),
        }
    }

    /// Returns what `infra.lock` knows of the state of a stack, as far as it can be read.
    pub(in crate::engine) fn known_state(&self, id: &StackId) -> Option<&KnownState> {
        self.infra_lock.as_ref().ok()?.states.get(id)
    }

    /// Returns where the state of a stack lies.
    pub fn home_of(&self, stack: &Stack) -> Result<StateHome> {
        self.home_in(stack, &self.dir_of(stack))
    }

    /// Returns the kind of backend that a stack was initialised for, where it was.
    pub(in crate::engine) fn noted_backend(&self, stack: &Stack) -> Option<String> {
        noted_kind(&self.data_dir_of(stack))
    }

    /// Returns where the state of a stack lies according to what tofu resolved in this folder.
    pub(in crate::engine) fn home_in(&self, stack: &Stack, dir: &Path) -> Result<StateHome> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let env = self.environment_of(stack, own)?;
        let name = self.state_name_of(stack)?;
        let data_dir = dir.join(env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into()));
        let former = self.former_workspace(stack);
        let workspace = former.or_else(|| workspace_in_use(stack, own, &data_dir));
        let (place, sources) = (self.place.as_ref(), &self.sources);
        home_of(HomeParts { stack, name, place, dir, env, data_dir, workspace, sources })
    }

    /// Returns where the state of a stack's folder lies in another workspace of its backend.
    pub(in crate::engine) fn home_in_workspace(&self, stack: &Stack, name: &str) -> Result<StateHome> {
        let own = &stacks::settings_for(&self.project, &stack.id).env;
        let (dir, env) = (self.dir_of(stack), self.environment_of(stack, own)?);
        let (workspace, data_dir) = (Some(name.to_owned()), self.data_dir_of(stack));
        let (name, place, sources) = (self.state_name_of(stack)?, self.place.as_ref(), &self.sources);
        home_of(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources })
    }

    /// Returns where a state of the project lies that may belong to no stack any more.
    pub(in crate::engine) fn home_named(&self, name: &StateName) -> Result<Option<StateHome>> {
        let Some(place) = &self.place else { return Ok(None) };
        place.home(name, self.some_environment()).map(Some)
    }
}
