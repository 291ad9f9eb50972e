//! What is given to a backend beside its block: `backend_config` of `infra.yaml`, or the only
//! `*.backend` or `*.tfbackend` file of the folder, as tofu's `-backend-config` takes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::model::{Backend, BackendConfig, Fingerprint, Project, Stack, StackError};
use crate::stacks::settings::SettingsBook;
use crate::syntax;
use crate::syntax::{Setting, Settings, flatten};

/// Names of settings that nobody should write down in the clear.
const SECRET: [&str; 8] = [
    "password",
    "secret_key",
    "access_key",
    "token",
    "sas_token",
    "client_secret",
    "conn_str",
    "encryption_key",
];

/// Returns what is given to the backend of a stack, in order; files by their path from its folder.
///
/// Several files that nobody chose among are an error, and so is one that is not there.
pub fn backend_config(project: &Project, stack: &Stack) -> Result<Vec<BackendConfig>> {
    let settings = crate::stacks::settings::settings_for(project, &stack.id);
    given(&project.root.join(&stack.path), stack, settings.backend_config)
}

fn given(dir: &Path, stack: &Stack, named: Vec<BackendConfig>) -> Result<Vec<BackendConfig>> {
    if !matches!(stack.backend, Backend::Embedded | Backend::Configured { .. }) {
        return Ok(Vec::new());
    }
    if !named.is_empty() {
        return named.into_iter().map(|entry| existing(dir, stack, entry)).collect();
    }
    let mut found = lone_files(dir);
    if found.len() > 1 {
        let first = found.swap_remove(0);
        return Err(Error::invalid(format!(
            "`{}` has several backend files: `{}`",
            stack.id,
            lone_files(dir).join("`, `")
        ))
        .code(StackError::BACKEND_UNCLEAR)
        .at(dir.display())
        .hint(format!(
            "name the one to use in infra.yaml: `stacks: {{ \"{}\": {{ backend_config: [{first}] }} }}`",
            stack.id
        )));
    }
    Ok(found.into_iter().map(BackendConfig::File).collect())
}

fn existing(dir: &Path, stack: &Stack, entry: BackendConfig) -> Result<BackendConfig> {
    match &entry {
        BackendConfig::File(file) if !dir.join(file).is_file() => {
            Err(Error::invalid(format!("`{}` names a backend file that is not there: `{file}`", stack.id))
                .code(StackError::BACKEND_UNCLEAR)
                .at("infra.yaml: backend_config")
                .hint(format!("paths are relative to `{}`", dir.display())))
        }
        _ => Ok(entry),
    }
}

/// Returns the backend files of a folder, by name.
fn lone_files(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_ours = |name: &String| {
        !name.starts_with('.') && (name.ends_with(".backend") || name.ends_with(".tfbackend"))
    };
    let mut names: Vec<String> = names.filter(is_ours).collect();
    names.sort();
    names
}

/// Lets the backends of stacks be what they are with all that is given to them.
///
/// What cannot be chosen or read is told when the stack is initialised.
pub fn complete_backends(project: &Project, stacks: &mut [Stack]) {
    let book = SettingsBook::of(project);
    for stack in stacks {
        let dir = project.root.join(&stack.path);
        let named = book.settings_for(&stack.id).backend_config;
        let warnings: Vec<String> = named.iter().flat_map(|entry| secret_words(stack, entry)).collect();
        stack.warnings.extend(warnings);
        let Ok(entries) = given(&dir, stack, named) else {
            stack.backend = open_backend(&stack.backend);
            continue;
        };
        for entry in &entries {
            stack.backend = completed(&stack.backend, settings_of(&dir, entry));
            stack.init_facts.insert(format!("backend-config {}", fingerprint(&dir, entry)));
        }
    }
}

/// Returns a backend of which it is not known what it will be given.
fn open_backend(backend: &Backend) -> Backend {
    match backend {
        Backend::Embedded => Backend::Configured { kind: "http".to_owned(), attributes: BTreeMap::new() },
        other => other.clone(),
    }
}

fn completed(backend: &Backend, given: Settings) -> Backend {
    let Backend::Configured { kind, mut attributes } = open_backend(backend) else { return backend.clone() };
    attributes.extend(flatten(&given));
    Backend::Configured { kind, attributes }
}

fn settings_of(dir: &Path, entry: &BackendConfig) -> Settings {
    match entry {
        BackendConfig::File(file) => {
            let text = std::fs::read_to_string(dir.join(file)).unwrap_or_default();
            let document = syntax::read(&text);
            let found = document.body.attributes.iter();
            found
                .filter_map(|found| Some((found.name.to_owned(), syntax::value(&text, &found.value)?)))
                .collect()
        }
        BackendConfig::Values(values) => {
            values.iter().filter_map(|(name, value)| Some((name.clone(), setting(value)?))).collect()
        }
    }
}

fn setting(value: &serde_json::Value) -> Option<Setting> {
    use serde_json::Value;
    Some(match value {
        Value::Null => return None,
        Value::String(text) => Setting::Literal(text.clone()),
        Value::Object(map) => Setting::Map(
            map.iter().filter_map(|(name, value)| Some((name.clone(), setting(value)?))).collect(),
        ),
        Value::Array(_) => Setting::Expression(value.to_string()),
        Value::Bool(_) | Value::Number(_) => Setting::Literal(value.to_string()),
    })
}

fn fingerprint(dir: &Path, entry: &BackendConfig) -> Fingerprint {
    let bytes = match entry {
        BackendConfig::File(file) => std::fs::read(dir.join(file)).unwrap_or_default(),
        BackendConfig::Values(values) => serde_json::to_vec(values).unwrap_or_default(),
    };
    Fingerprint::of([bytes.as_slice()])
}

fn secret_words(stack: &Stack, entry: &BackendConfig) -> Vec<String> {
    let BackendConfig::Values(values) = entry else { return Vec::new() };
    let secret = values.keys().filter(|name| SECRET.contains(&name.as_str()));
    let words = secret.map(|name| {
        format!(
            "infra.yaml: backend_config of `{}` has `{name}` in the clear, and tofu keeps it in `.terraform`: \
             give it by the environment or the stack's secrets",
            stack.id
        )
    });
    words.collect()
}

/// Returns the files that a stack's backend is given, for whoever asks what it is made from.
pub fn backend_files(project: &Project, stack: &Stack) -> Vec<PathBuf> {
    let entries = backend_config(project, stack).unwrap_or_default().into_iter();
    let dir = project.root.join(&stack.path);
    let files = entries.filter_map(|entry| match entry {
        BackendConfig::File(file) => Some(dir.join(file)),
        BackendConfig::Values(_) => None,
    });
    files.collect()
}
