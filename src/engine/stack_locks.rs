//! Where the states of stacks lie and who holds their locks, read without a session and without a tofu.

use std::collections::BTreeMap;

use super::calls::{HolderLife, life_of_holder};
use super::stack::data_folder;
use super::variables::StackSecrets;
use crate::backends::{HomeParts, StateHome, StatePlace, home_of, state_name, workspace_in_use};
use crate::error::{Error, Result};
use crate::model::{Backend, Environment, Project, Stack, StackId, StateLock};
use crate::stacks;
use crate::state::AwsSources;

/// A lock of a stack, with what is known about its holder.
#[derive(Debug)]
pub struct StackLock {
    /// The stack.
    pub stack: StackId,
    /// The lock of its state.
    pub lock: StateLock,
    /// Whether the one who took it still works.
    pub life: HolderLife,
    /// Where the state lies that it holds.
    pub home: StateHome,
}

/// The locks that were found, and the stacks whose lock cannot be read.
#[derive(Debug, Default)]
pub struct StackLocks {
    /// The locks.
    pub locks: Vec<StackLock>,
    /// The stacks whose lock cannot be read, and why.
    pub failed: Vec<(StackId, Error)>,
}

/// What it takes to find the states of stacks: what could not be opened fails for those alone that need it.
#[derive(Debug)]
pub struct StateHomes<'a> {
    /// The project.
    pub project: &'a Project,
    /// Where infra keeps the states of the project, if a stack has its state there.
    pub place: Result<Option<StatePlace>>,
    /// The opened files of the stacks whose backend needs credentials.
    pub secrets: BTreeMap<StackId, Result<StackSecrets>>,
    /// The environment without them.
    pub env: &'a Environment,
    /// Where credentials for AWS are looked for.
    pub sources: AwsSources,
}

impl StateHomes<'_> {
    /// Returns where the state of a stack lies.
    pub fn home_of(&self, stack: &Stack) -> Result<StateHome> {
        let place = match (&self.place, &stack.backend) {
            (Err(error), Backend::Embedded) => return Err(error.clone()),
            (place, _) => place.as_ref().ok().and_then(Option::as_ref),
        };
        let secrets = self.secrets.get(&stack.id).map(Result::as_ref).transpose().map_err(Clone::clone)?;
        let mut env = self.env.clone();
        for (name, value) in secrets.into_iter().flat_map(StackSecrets::backend_variables) {
            env.set(name, value.as_str());
        }
        let project = self.project;
        let (dir, own) = (project.root.join(&stack.path), stacks::settings_for(project, &stack.id).env);
        let name = state_name(stack)?;
        let data_dir = data_folder(project, stack, &env, &own);
        let workspace = workspace_in_use(stack, &own, &data_dir);
        let env = own.into_iter().fold(env, |env, (name, value)| env.with(&name, value));
        let sources = &self.sources;
        home_of(HomeParts { stack, name, place, dir: &dir, env, data_dir, workspace, sources })
    }

    /// Reads the locks of stacks, whichever backend keeps them; one that fails hides no other.
    pub async fn locks_of(&self, stacks: &[&Stack]) -> StackLocks {
        let found = futures::future::join_all(stacks.iter().map(|stack| self.lock_of(stack))).await;
        let mut read = StackLocks::default();
        for (stack, found) in stacks.iter().zip(found) {
            let stack = stack.id.clone();
            match found {
                Ok((home, Some(lock))) => {
                    let life = life_of_holder(self.project, &stack, &lock);
                    read.locks.push(StackLock { stack, lock, life, home });
                }
                Ok((_, None)) => {}
                Err(error) => read.failed.push((stack, error)),
            }
        }
        read
    }

    async fn lock_of(&self, stack: &Stack) -> Result<(StateHome, Option<StateLock>)> {
        let home = self.home_of(stack)?;
        let lock = home.lock_of().await?;
        Ok((home, lock))
    }
}
