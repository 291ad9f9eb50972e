//! From a stack and its environment to where its state lies: the one place that asks which
//! kind of backend it is.

use std::path::{Path, PathBuf};

use super::http_state::http_state;
use super::state_home::StateHome;
use super::state_place::StatePlace;
use super::tofu_backends::{BackendRecord, resolved_backend};
use crate::aws::{AwsSettings, AwsSources};
use crate::error::Result;
use crate::model::{Backend, Environment, Stack};
use crate::state::StateName;

/// What decides where the state of a stack lies.
#[derive(Debug)]
pub struct HomeParts<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// The name its state has where infra keeps it.
    pub name: StateName,
    /// Where infra keeps the states of the project, if any stack asks for that.
    pub place: Option<&'a StatePlace>,
    /// The folder in which tofu was initialised.
    pub dir: &'a Path,
    /// The environment of everything that is done for the stack.
    pub env: Environment,
    /// Where tofu keeps what `init` resolved.
    pub data_dir: PathBuf,
    /// The workspace in use; `None` for the one that every backend begins with.
    pub workspace: Option<String>,
    /// Who asks buckets in this command.
    pub sources: &'a AwsSources,
}

/// Returns where the state of a stack lies.
pub fn home_of(parts: HomeParts<'_>) -> Result<StateHome> {
    let HomeParts { stack, name, place, dir, env, data_dir, workspace, sources } = parts;
    if stack.backend == Backend::Embedded {
        return match place {
            Some(place) => place.home(&name, env),
            None => Ok(StateHome::OnlyTofu(stack.backend.kind().to_owned())),
        };
    }
    let backend = resolved_backend(
        &stack.backend,
        BackendRecord { data_dir: &data_dir, workspace: workspace.as_deref() },
    );
    Ok(match backend.kind() {
        "http" => match http_state(&backend, env)? {
            Some(state) => StateHome::Server(Box::new(state)),
            None => StateHome::OnlyTofu("http".to_owned()),
        },
        "local" => StateHome::File(dir.join(backend.attribute("path").unwrap_or("terraform.tfstate"))),
        "s3" => {
            let source = sources.of(AwsSettings::of_block(&backend, &env, dir));
            StateHome::Bucket { backend, source }
        }
        kind => StateHome::OnlyTofu(kind.to_owned()),
    })
}
