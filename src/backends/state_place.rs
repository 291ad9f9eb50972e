//! Where infra keeps the states of a project: a store that it opens itself, or a server.

use std::path::{Path, PathBuf};

use super::http_state::remote_environment;
use super::state_home::StateHome;
use crate::error::{Error, Result};
use crate::model::{Environment, StackError, quoted};
use crate::state::{RemoteState, StateName, StateStore};

/// A place for the states of all stacks that leave it to infra.
#[derive(Clone, Debug)]
pub enum StatePlace {
    /// A folder or a bucket.
    Store(StateStore),
    /// A folder that is not there, although it holds states of the project.
    Absent(PathBuf),
    /// A server at this address, without a slash at its end; credentials come from the environment.
    Server(String),
}

impl StatePlace {
    /// Returns where a state lies here; the environment holds the credentials for a server.
    pub fn home(&self, name: &StateName, env: Environment) -> Result<StateHome> {
        match self {
            Self::Store(store) => Ok(StateHome::Store { store: store.clone(), name: name.clone() }),
            Self::Server(url) => {
                let env = remote_environment(env, url, name);
                Ok(StateHome::Server(Box::new(RemoteState::from_environment(&env)?)))
            }
            Self::Absent(folder) => Err(absent(folder)),
        }
    }

    /// Returns the environment with what leads tofu to a state on a server; a store needs no words.
    pub fn environment(&self, env: Environment, name: &StateName) -> Environment {
        match self {
            Self::Store(_) | Self::Absent(_) => env,
            Self::Server(url) => remote_environment(env, url, name),
        }
    }

    /// Returns the states that have a copy of what was applied beside them; `None` if none are kept.
    pub async fn copies(&self, env: Environment) -> Result<Option<Vec<StateName>>> {
        match self {
            Self::Store(store) => store.copies().await.map(Some),
            Self::Absent(_) => Ok(None),
            Self::Server(url) => {
                RemoteState::from_environment(&env.with("TF_HTTP_ADDRESS", url))?.copies().await
            }
        }
    }
}

/// Makes the error of a folder that is not there.
fn absent(folder: &Path) -> Error {
    Error::invalid(format!("the folder of the states is not there: `{}`", folder.display()))
        .code(StackError::STATE_ELSEWHERE)
        .detail("`infra.lock` says that states of this project are kept in it")
        .hint("if it is a share, mount it")
        .hint(format!(
            "if it is gone for good: `mkdir -p {}`, then `infra state recover --all`",
            quoted(&folder.display().to_string())
        ))
}
