//! Which workspaces a backend has, where infra can look itself: a list by tofu costs a process and an
//! `init` before it. Begin at [`workspaces_at`].

use std::path::Path;

use super::home_of::HomeParts;
use super::tofu_backends::{BackendRecord, noted_kind, resolved_backend, s3_workspaces};
use crate::error::{Result, io};
use crate::model::{Backend, StackWorkspace};
use crate::state::AwsSettings;

/// Returns the workspaces of a stack's backend, sorted; `None` where only tofu can tell.
pub async fn workspaces_at(parts: HomeParts<'_>) -> Result<Option<Vec<String>>> {
    let HomeParts { stack, dir, env, data_dir, workspace, sources, .. } = parts;
    if is_on_the_way(&stack.backend, dir, &data_dir, workspace.as_deref()) {
        return Ok(None);
    }
    let backend = resolved_backend(&stack.backend, BackendRecord { data_dir: &data_dir, workspace: None });
    let is_open = |name: &str| is_open(&stack.backend, name) && backend.attribute(name).is_none();
    let found = match backend.kind() {
        "local" if !is_open("workspace_dir") => {
            Some(local(&dir.join(backend.attribute("workspace_dir").unwrap_or("terraform.tfstate.d")))?)
        }
        "s3" if !is_open("workspace_key_prefix") => {
            s3_workspaces(&backend, &sources.of(AwsSettings::of_block(&backend, &env, dir))).await?
        }
        _ => None,
    };
    Ok(found.map(with_default))
}

/// Returns whether a block gives an attribute a value that its files do not tell.
fn is_open(backend: &Backend, name: &str) -> bool {
    matches!(backend, Backend::Configured { attributes, .. } if attributes.get(name) == Some(&None))
}

/// Returns whether the block was exchanged since tofu last saw it: the next `init` takes workspaces along,
/// or says what to do.
fn is_on_the_way(backend: &Backend, dir: &Path, data_dir: &Path, workspace: Option<&str>) -> bool {
    match noted_kind(data_dir) {
        Some(noted) => noted != backend.kind(),
        None => {
            let left = workspace.map(|name| dir.join("terraform.tfstate.d").join(name));
            backend.kind() != "local" && left.is_some_and(|folder| folder.exists())
        }
    }
}

/// Returns the names of the folders in which tofu keeps workspaces.
fn local(folder: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("read", folder)(error)),
    };
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Every backend begins with one, whether it has a state or not.
fn with_default(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| name != StackWorkspace::DEFAULT);
    names.sort();
    names.insert(0, StackWorkspace::DEFAULT.to_owned());
    names
}
