//! A state behind a server of the http backend's protocol: from a block and the environment
//! to a client.

use crate::error::Result;
use crate::model::{Backend, Environment, Stack};
use crate::state::{RemoteState, StateName};

/// Returns the name a stack's state is kept under.
pub fn state_name(stack: &Stack) -> Result<StateName> {
    StateName::parse(&stack.id.state_name())
}

/// Returns the environment that leads to a state on a server of this program's kind.
pub(super) fn remote_environment(env: Environment, url: &str, name: &StateName) -> Environment {
    // Both are rooted at `/states`: the configured address ends with it, the path begins with it.
    let address = format!("{url}{}", name.url_path().trim_start_matches("/states"));
    let lock = format!("{address}/lock");
    env.with("TF_HTTP_ADDRESS", &address)
        .with("TF_HTTP_LOCK_ADDRESS", &lock)
        .with("TF_HTTP_UNLOCK_ADDRESS", &lock)
}

/// Returns the state that an http backend leads to; `None` if no address is configured.
pub(super) fn http_state(backend: &Backend, env: Environment) -> Result<Option<RemoteState>> {
    let env = configured(backend, env);
    match env.get("TF_HTTP_ADDRESS") {
        Some(_) => RemoteState::from_environment(&env).map(Some),
        None => Ok(None),
    }
}

/// Returns the environment with what the block says, which wins.
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
