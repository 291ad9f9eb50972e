//! Who holds the state of a stack, whichever backend keeps it; without starting tofu.

use std::path::Path;

use super::resolved_backend::{BackendRecord, resolved_backend};
use super::session::{remote_environment, state_name};
use super::stack_secrets::StackSecrets;
use crate::error::Result;
use crate::model::{Backend, Environment, Project, Stack, StateLock};
use crate::stacks;
use crate::state::{HeldLock, RemoteState, StateStore, lock_of_file, lock_of_s3};

/// What is needed to look at locks.
#[derive(Debug)]
pub struct LockSources<'a> {
    /// The project.
    pub project: &'a Project,
    /// The project's own store, where some stack uses it.
    pub store: Option<&'a StateStore>,
    /// The environment this program was started with.
    pub env: &'a Environment,
}

/// Returns the environment that a stack's backend gets.
pub fn backend_environment(inherited: &Environment, secrets: Option<&StackSecrets>) -> Environment {
    let mut env = inherited.clone();
    for (name, value) in secrets.into_iter().flat_map(|secrets| &secrets.env) {
        env.set(name, value.as_str());
    }
    env
}

/// Returns the http state of a stack on another server, if that is where it is.
pub fn remote_state(project: &Project, stack: &Stack, env: &Environment) -> Result<Option<RemoteState>> {
    let backend = resolved(project, stack, env);
    let env = match (&backend, &project.state.url) {
        (Backend::Embedded, Some(url)) => {
            remote_environment(env.clone(), url.trim_end_matches('/'), &state_name(stack)?)
        }
        (Backend::Configured { kind, .. }, _) if kind == "http" => env.clone(),
        _ => return Ok(None),
    };
    http_state(&backend, env)
}

/// Returns the state that an http backend leads to; nothing if nobody says its address.
pub(super) fn http_state(backend: &Backend, env: Environment) -> Result<Option<RemoteState>> {
    let env = configured(backend, env);
    match env.get("TF_HTTP_ADDRESS") {
        Some(_) => RemoteState::from_environment(&env).map(Some),
        None => Ok(None),
    }
}

/// Returns the backend of a stack with what `init` and the workspace say.
fn resolved(project: &Project, stack: &Stack, env: &Environment) -> Backend {
    let (dir, own) = (project.root.join(&stack.path), stacks::settings_for(project, &stack.id).env);
    resolved_backend(&stack.backend, BackendRecord { dir: &dir, env, own: &own })
}

fn configured(backend: &Backend, mut env: Environment) -> Environment {
    for (attribute, variable) in [
        ("address", "TF_HTTP_ADDRESS"),
        ("lock_address", "TF_HTTP_LOCK_ADDRESS"),
        ("unlock_address", "TF_HTTP_UNLOCK_ADDRESS"),
        ("update_method", "TF_HTTP_UPDATE_METHOD"),
        ("lock_method", "TF_HTTP_LOCK_METHOD"),
        ("unlock_method", "TF_HTTP_UNLOCK_METHOD"),
        ("username", "TF_HTTP_USERNAME"),
        ("password", "TF_HTTP_PASSWORD"),
        ("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"),
        ("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM"),
        ("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM"),
    ] {
        if let Some(value) = backend.attribute(attribute) {
            env.set(variable, value);
        }
    }
    env
}

/// Returns who holds the state of a stack; nothing where the backend cannot be asked.
pub async fn lock_of_stack(
    sources: &LockSources<'_>,
    stack: &Stack,
    secrets: Option<&StackSecrets>,
) -> Result<Option<StateLock>> {
    let env = backend_environment(sources.env, secrets);
    if let Some(remote) = remote_state(sources.project, stack, &env)? {
        return Ok(remote.lock_of().await?.as_ref().map(HeldLock::to_state_lock));
    }
    let dir = sources.project.root.join(&stack.path);
    let backend = resolved(sources.project, stack, &env);
    match (&backend, sources.store) {
        (Backend::Embedded, Some(store)) => {
            Ok(store.lock_of(&state_name(stack)?).await?.as_ref().map(HeldLock::to_state_lock))
        }
        (Backend::Embedded, None) | (Backend::Unknown, _) => Ok(None),
        (Backend::None, _) => Ok(lock_of_file(&dir.join("terraform.tfstate"))),
        (Backend::Configured { kind, .. }, _) => configured_lock(kind, &backend, &dir, &env).await,
    }
}

async fn configured_lock(
    kind: &str,
    backend: &Backend,
    dir: &Path,
    env: &Environment,
) -> Result<Option<StateLock>> {
    match kind {
        "local" => {
            let path = backend.attribute("path").unwrap_or("terraform.tfstate");
            Ok(lock_of_file(&dir.join(path)))
        }
        "s3" => Ok(lock_of_s3(backend, env).await?.as_ref().map(HeldLock::to_state_lock)),
        _ => Ok(None),
    }
}
