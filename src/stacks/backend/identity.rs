//! Which state a stack writes, as one text that is equal only for the same state.
//! Unknown is the usual case: partial backends and variables in backends are legal, and
//! an unknown state is never a duplicate. Begin at [`identity`].

use std::collections::BTreeMap;
use std::path::Path;

use reqwest::Url;

use crate::error::Error;
use crate::model::{Backend, Stack, StackError, StackId, StackWorkspace, few, without_dots};

/// How many stacks on one state are named.
const NAMED: usize = 6;

/// Returns the identity of the state that a stack writes, where it is fully known.
pub fn identity_of(stack: &Stack) -> Option<String> {
    identity(&stack.backend, &stack.path, stack.workspace_name())
}

/// Returns the identity of the state that a backend in the folder `path` writes in a workspace, where it is
/// fully known.
pub fn identity(backend: &Backend, path: &Path, workspace: Option<&str>) -> Option<String> {
    let workspace = workspace.filter(|name| *name != StackWorkspace::DEFAULT);
    match (backend, workspace) {
        (Backend::Embedded | Backend::Unknown, _) => None,
        (Backend::None, None) => Some(local(path, "terraform.tfstate")),
        (Backend::None, Some(name)) => local_workspace(backend, path, name),
        (Backend::Configured { kind, .. }, None) => configured(kind, backend, path),
        (Backend::Configured { kind, .. }, Some(name)) => match kind.as_str() {
            "local" => local_workspace(backend, path, name),
            // It has no workspaces: each has an address of its own.
            "http" => configured(kind, backend, path),
            "s3" => s3(backend, Some(name)).map(|parts| format!("s3:{}", parts.join("|"))),
            _ => Some(format!("{}@{name}", configured(kind, backend, path)?)),
        },
    }
}

/// Returns the file that the local backend writes in a workspace.
fn local_workspace(backend: &Backend, path: &Path, name: &str) -> Option<String> {
    let folder = Some(optional(backend, "workspace_dir")?).filter(|folder| !folder.is_empty());
    let folder = folder.unwrap_or_else(|| "terraform.tfstate.d".to_owned());
    Some(local(path, &format!("{folder}/{name}/terraform.tfstate")))
}

fn configured(kind: &str, backend: &Backend, path: &Path) -> Option<String> {
    let parts = match kind {
        "local" => return local_file(backend).map(|file| local(path, &file)),
        "s3" => s3(backend, None)?,
        "gcs" => all(backend, &["bucket", "prefix"])?,
        "azurerm" => all(backend, &["storage_account_name", "container_name", "key"])?,
        "http" => vec![same_address(&needed(backend, "address")?)],
        "kubernetes" => kubernetes(backend)?,
        "remote" | "cloud" => all(backend, &["hostname", "organization", "workspaces.name"])?,
        _ => return None,
    };
    // Both forms name the same workspaces of the same server.
    let kind = if kind == "cloud" { "remote" } else { kind };
    Some(format!("{kind}:{}", parts.join("|")))
}

/// Returns the file that a local backend names; without a path tofu takes the usual one.
fn local_file(backend: &Backend) -> Option<String> {
    let is_given =
        matches!(backend, Backend::Configured { attributes, .. } if attributes.contains_key("path"));
    if is_given { needed(backend, "path") } else { Some("terraform.tfstate".to_owned()) }
}

/// Returns a local file's identity: its path from the project's root, without dots.
fn local(path: &Path, file: &str) -> String {
    format!("local:{}", without_dots(&path.join(file)).display())
}

/// Returns an address as every spelling of it: the case of scheme and host, the usual port, dots, a
/// slash at the end, a fragment and credentials lead to no other place.
fn same_address(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else { return text.to_owned() };
    if !matches!(url.scheme(), "http" | "https") {
        return text.to_owned();
    }
    url.set_fragment(None);
    // Both can fail only for an address without a host, which these schemes do not have.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    url.as_str().trim_end_matches('/').to_owned()
}

fn s3(backend: &Backend, workspace: Option<&str>) -> Option<Vec<String>> {
    let endpoint = match optional(backend, "endpoints.s3")? {
        text if text.is_empty() => optional(backend, "endpoint")?,
        text => text,
    };
    let prefix = optional(backend, "workspace_key_prefix")?;
    let (endpoint, key) = (same_address(&endpoint), needed(backend, "key")?);
    let key = match workspace {
        Some(name) if prefix.is_empty() => format!("env:/{name}/{key}"),
        Some(name) => format!("{prefix}/{name}/{key}"),
        None => key,
    };
    Some(vec![endpoint, needed(backend, "bucket")?, key, prefix])
}

fn kubernetes(backend: &Backend) -> Option<Vec<String>> {
    let cluster = match (optional(backend, "config_path")?, optional(backend, "host")?) {
        (config, host) if config.is_empty() && host.is_empty() => return None,
        (config, host) => format!("{config}{host}"),
    };
    let context = optional(backend, "config_context")?;
    Some(vec![needed(backend, "namespace")?, needed(backend, "secret_suffix")?, cluster, context])
}

fn all(backend: &Backend, names: &[&str]) -> Option<Vec<String>> {
    names.iter().map(|name| needed(backend, name)).collect()
}

/// Returns a literal that is not empty.
fn needed(backend: &Backend, name: &str) -> Option<String> {
    backend.attribute(name).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a literal, or the empty text where it is not given; `None` where it is no literal.
fn optional(backend: &Backend, name: &str) -> Option<String> {
    let Backend::Configured { attributes, .. } = backend else { return Some(String::new()) };
    attributes.get(name).map_or(Some(String::new()), Clone::clone)
}

/// A state that several stacks write: none of them may run, and nobody else is concerned.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// Who writes it.
    pub stacks: Vec<StackId>,
    /// Why they must not, with the file of each.
    pub error: Error,
}

/// Returns the states that more than one stack writes.
pub fn shared_states(stacks: &[Stack]) -> Vec<SharedState> {
    let mut owners: BTreeMap<String, Vec<&Stack>> = BTreeMap::new();
    for stack in stacks {
        if let Some(key) = state_of(stack) {
            owners.entry(key).or_default().push(stack);
        }
    }
    owners.iter().filter(|(_, owners)| owners.len() > 1).map(|(key, owners)| shared(key, owners)).collect()
}

/// Returns what tells the stack's state from others; an embedded one is told by its name.
fn state_of(stack: &Stack) -> Option<String> {
    match stack.backend {
        Backend::Embedded => Some(format!("embedded:{}", stack.id.state_name())),
        Backend::None | Backend::Unknown | Backend::Configured { .. } => identity_of(stack),
    }
}

fn shared(key: &str, owners: &[&Stack]) -> SharedState {
    let stacks: Vec<StackId> = owners.iter().map(|stack| stack.id.clone()).collect();
    let names = match stacks.as_slice() {
        [one, other] => format!("`{one}` and `{other}`"),
        all => few(all, NAMED),
    };
    let error = Error::invalid(format!("stacks {names} write the same state"))
        .code(StackError::STATE_SHARED)
        .fact("state", key);
    let error = owners.iter().take(NAMED).fold(error, |error, stack| error.fact("file", place_of(stack)));
    let last = owners.last().map(|stack| stack.id.as_str()).unwrap_or_default();
    let error = error.hint(format!("give `{last}` a backend key, path or address of its own"));
    SharedState { stacks, error }
}

/// Returns file and line of what says where the state is; without a block that is the folder.
fn place_of(stack: &Stack) -> String {
    stack.backend_place.clone().unwrap_or_else(|| format!("{} (no backend block)", stack.path.display()))
}

/// Returns remarks about stacks that give the same key but not the bucket: one `init` from a collision.
pub fn partial_collisions(stacks: &[Stack]) -> Vec<(usize, usize, String)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, stack) in stacks.iter().enumerate() {
        let Some(key) = key_without_bucket(&stack.backend) else { continue };
        // Workspaces of one folder have one key and keep apart.
        let key = stack.workspace_name().map_or_else(|| key.clone(), |name| format!("{key} in `{name}`"));
        if let Some(first) = seen.get(&key) {
            found.push((*first, index, key.clone()));
        }
        seen.entry(key).or_insert(index);
    }
    found
}

fn key_without_bucket(backend: &Backend) -> Option<String> {
    let (bucket, key) = match backend.kind() {
        "s3" => ("bucket", "key"),
        "gcs" => ("bucket", "prefix"),
        "azurerm" => ("container_name", "key"),
        _ => return None,
    };
    if needed(backend, bucket).is_some() {
        return None;
    }
    Some(format!("{} {key} `{}`", backend.kind(), needed(backend, key)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(kind: &str, attributes: &[(&str, Option<&str>)]) -> Backend {
        let attributes =
            attributes.iter().map(|(name, value)| ((*name).into(), value.map(str::to_owned))).collect();
        Backend::Configured { kind: kind.into(), attributes }
    }

    fn of(kind: &str, attributes: &[(&str, Option<&str>)]) -> Option<String> {
        identity(&configured(kind, attributes), Path::new("infrastructure/a"), None)
    }

    #[test]
    fn a_state_is_known_when_every_needed_attribute_is_a_literal() {
        let s3 = [("bucket", Some("b")), ("key", Some("k")), ("endpoints.s3", Some("https://r2"))];
        let cloud = [("hostname", Some("h")), ("organization", Some("o")), ("workspaces.name", Some("w"))];

        assert_eq!(of("s3", &s3).as_deref(), Some("s3:https://r2|b|k|"));
        assert_eq!(of("gcs", &[("bucket", Some("b")), ("prefix", Some("p"))]).as_deref(), Some("gcs:b|p"));
        assert_eq!(of("http", &[("address", Some("https://x/a"))]).as_deref(), Some("http:https://x/a"));
        assert_eq!(of("cloud", &cloud), of("remote", &cloud));
        assert_eq!(
            of("local", &[("path", Some("../b.tfstate"))]).as_deref(),
            Some("local:infrastructure/b.tfstate")
        );
    }

    #[test]
    fn one_address_is_one_state_however_it_is_written() {
        let http = |address| of("http", &[("address", Some(address))]);
        let plain = http("http://host.example/states/same");

        for other in [
            "http://host.example/states/./same/",
            "HTTP://Host.Example/states/same#",
            "http://host.example:80/states/x/../same",
            "http://dana:secret@host.example/states/same",
        ] {
            assert_eq!(http(other), plain, "{other}");
        }
        for other in [
            "https://host.example/states/same",
            "http://host.example/states/Same",
            "http://host.example/states/same?x=1",
        ] {
            assert_ne!(http(other), plain, "{other}");
        }
        let s3 = |endpoint, key| {
            of("s3", &[("bucket", Some("b")), ("key", Some(key)), ("endpoint", Some(endpoint))])
        };
        assert_eq!(s3("https://R2.example:443/", "k"), s3("https://r2.example", "k"));
        assert_ne!(s3("https://r2.example", "a//k"), s3("https://r2.example", "a/k"));
    }

    #[test]
    fn a_local_block_without_a_path_writes_the_usual_file() {
        assert_eq!(of("local", &[]), identity(&Backend::None, Path::new("infrastructure/a"), None));
        assert_eq!(of("local", &[("path", None)]), None);
    }

    #[test]
    fn a_missing_empty_or_computed_attribute_makes_a_state_unknown() {
        assert_eq!(of("s3", &[("key", Some("k"))]), None);
        assert_eq!(of("s3", &[("key", Some("k")), ("bucket", Some(""))]), None);
        assert_eq!(of("s3", &[("key", Some("k")), ("bucket", Some("b")), ("endpoint", None)]), None);
        assert_eq!(of("kubernetes", &[("namespace", Some("n")), ("secret_suffix", Some("s"))]), None);
        assert_eq!(of("pg", &[("conn_str", Some("x"))]), None);
        assert_eq!(identity(&Backend::Embedded, Path::new("a"), None), None);
    }

    #[test]
    fn the_deprecated_endpoint_names_the_same_state() {
        let new = [("bucket", Some("b")), ("key", Some("k")), ("endpoints.s3", Some("https://r2"))];
        let old = [("bucket", Some("b")), ("key", Some("k")), ("endpoint", Some("https://r2"))];

        assert_eq!(of("s3", &new), of("s3", &old));
    }
}
