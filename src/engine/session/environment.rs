//! The environment and the folder of every call that is made for a stack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::shared::Session;
use crate::engine::variables::StackSecrets;
use crate::error::Result;
use crate::model::{Backend, Environment, Stack};
use crate::process::Invocation;
use crate::tofu::with_http_backend;

impl Session {
    /// Returns a tofu call in the stack's folder, still without a subcommand.
    pub fn call(&self, stack: &Stack, own: &BTreeMap<String, String>) -> Result<Invocation> {
        Ok(Invocation::new(&self.tofu.path, self.dir_of(stack), self.environment_of(stack, own)?))
    }

    /// Returns a tofu call for a stack in another folder, still without a subcommand.
    pub(in crate::engine) fn call_in(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
        dir: &Path,
    ) -> Result<Invocation> {
        Ok(Invocation::new(&self.tofu.path, dir, self.environment_of(stack, own)?))
    }

    /// Returns the environment of everything that is done for a stack.
    pub(in crate::engine) fn environment_of(
        &self,
        stack: &Stack,
        own: &BTreeMap<String, String>,
    ) -> Result<Environment> {
        let mut env = self.backend_environment(stack)?;
        for (name, value) in self.secrets_of(&stack.id).into_iter().flat_map(|secrets| &secrets.env) {
            // A stack that this program serves gets its credentials from the server.
            if !(name.starts_with("TF_HTTP_")
                && stack.backend == Backend::Embedded
                && self.embedded.is_some())
            {
                env.set(name, value.as_str());
            }
        }
        for (name, value) in own {
            env.set(name, value);
        }
        self.put_in_workspace(stack, &mut env);
        Ok(env)
    }

    /// Returns a tofu call in the project's root that touches no state.
    pub fn plain_call(&self) -> Invocation {
        Invocation::new(&self.tofu.path, &self.project.root, self.env.clone())
    }

    /// Returns the absolute folder of a stack.
    pub fn dir_of(&self, stack: &Stack) -> PathBuf {
        self.project.root.join(&stack.path)
    }

    /// Returns where tofu keeps a stack's providers and modules.
    pub fn data_dir_of(&self, stack: &Stack) -> PathBuf {
        if stack.declared_workspace().is_some() {
            return self.workspace_folder(stack);
        }
        let name = self.env.path("TF_DATA_DIR").unwrap_or_else(|| ".terraform".into());
        self.dir_of(stack).join(name)
    }

    /// Returns the environment with the credentials of any stack that has some for a server or a bucket.
    pub(in crate::engine) fn some_environment(&self) -> Environment {
        let mut env = self.env.clone();
        let embedded = self.stacks.iter().filter(|stack| stack.backend == Backend::Embedded);
        let secrets = embedded.filter_map(|stack| self.secrets_of(&stack.id));
        let mut secrets = secrets.map(StackSecrets::backend_variables).filter(|all| !all.is_empty());
        for (name, value) in secrets.next().into_iter().flatten() {
            env.set(name, value.as_str());
        }
        env
    }

    fn backend_environment(&self, stack: &Stack) -> Result<Environment> {
        let env = self.env.clone();
        if stack.backend != Backend::Embedded {
            return Ok(env);
        }
        let name = self.state_name_of(stack)?;
        Ok(match (&self.embedded, &self.place) {
            (Some(server), _) => with_http_backend(env, server.environment_for(&name)),
            (None, Some(place)) => place.environment(env, &name),
            (None, None) => env,
        })
    }
}
