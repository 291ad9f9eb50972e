//! Everything of a project that counts for trust, found without running any of it.
//!
//! One function for each kind; [`items_of_project`] is the whole list. A feature that runs
//! something of the repository adds its function here.

mod credential_files;
mod key_programs;
mod owners;
mod tofu_data;
mod variables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(in crate::commands) use self::credential_files::credential_file_items;
pub(super) use self::key_programs::key_programs;
pub(super) use self::owners::owners;
use self::tofu_data::tofu_data;
use self::variables::only_tells_a_value;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::engine;
use crate::error::{Result, io};
use crate::model::{Environment, Fingerprint, Project, PythonPlugins, Stack};
use crate::render::plugin;
use crate::render::settings::resolve;
use crate::report::passphrase_prompt;
use crate::secrets::{KeyTrust, Keyring};
use crate::stacks::SettingsBook;
use crate::tofu;
use crate::trust::{TrustItem, TrustItemKind};

/// Configuration files of tofu's command line that a repository may bring.
const CLI_CONFIGS: [&str; 2] = [".terraformrc", ".tofurc"];

/// Returns everything that the project brings.
pub async fn items_of_project(project: &Project, context: &Context) -> Result<Vec<TrustItem>> {
    let loaded = LoadedProject::load(context)?;
    let stacks: Vec<&Stack> = loaded.stacks.iter().collect();
    let mut items = plugin_items(project)?;
    items.extend(items_of_run(project, &stacks, context).await?);
    let prompt = passphrase_prompt(context.asking());
    let keyring = Keyring::load(loaded.key_places(context, KeyTrust::NONE), &prompt).await;
    items.extend(key_items(project, &stacks, &keyring)?);
    items.sort();
    items.dedup_by(|a, b| a.is_same(b));
    Ok(items)
}

/// Returns what counts whenever tofu is to be run.
pub async fn items_of_run(project: &Project, stacks: &[&Stack], context: &Context) -> Result<Vec<TrustItem>> {
    let mut items = binary_items(project, &context.env)?;
    items.extend(variables(project, stacks));
    items.extend(cli_configs(project, stacks)?);
    items.extend(credential_file_items(project, stacks, &context.env)?);
    items.extend(tofu_data(project, stacks, context).await?);
    Ok(items)
}

/// Python code that `configure` would run; what `infra.yaml` denies never runs.
pub fn plugin_items(project: &Project) -> Result<Vec<TrustItem>> {
    if project.configure.python_plugins == Some(PythonPlugins::Deny) {
        return Ok(Vec::new());
    }
    let settings = resolve(&project.root, &project.configure)?;
    let found = match plugin::find(&project.root, &settings) {
        // A plugin that the settings do not ask for may be missing.
        Err(_) if project.configure.python_plugins.is_none() => None,
        found => found?,
    };
    Ok(found.iter().map(plugin_item).collect())
}

/// Returns the item that plugins are.
pub fn plugin_item(plugins: &plugin::Plugins) -> TrustItem {
    let files: Vec<String> = plugins.files().iter().map(|file| format!("`{file}`")).collect();
    TrustItem::new(TrustItemKind::PythonPlugin, files.join(", "), plugins.plugin_hash())
        .from("makejinja.toml")
}

/// A `tofu.binary` below the root; one on PATH or outside is the person's own.
pub fn binary_items(project: &Project, env: &Environment) -> Result<Vec<TrustItem>> {
    let Some(path) = tofu::named_path(&project.root, &project.tofu, env) else { return Ok(Vec::new()) };
    if !is_below(&project.root, &path) || !path.is_file() {
        return Ok(Vec::new());
    }
    let name = project.relative(&path).display().to_string();
    Ok(vec![TrustItem::new(TrustItemKind::TofuBinary, name, digest(&path)?)])
}

/// Variables of `env:` that can do more than tell tofu or a provider a value, of those that the stacks get.
fn variables(project: &Project, stacks: &[&Stack]) -> Vec<TrustItem> {
    let book = SettingsBook::of(project);
    let given: BTreeSet<(String, String)> =
        stacks.iter().flat_map(|stack| book.settings_for(&stack.id).env).collect();
    let own = project.stack_settings.iter().map(|(pattern, settings)| (pattern.clone(), settings));
    let of_workspaces = project.stack_settings.iter().flat_map(|(pattern, settings)| {
        settings.workspaces.iter().map(move |(name, entry)| (format!("{pattern}@{name}"), entry))
    });
    let all = own.chain(of_workspaces).flat_map(|(pattern, settings)| {
        settings.env.iter().map(move |(name, value)| (name, value, pattern.clone()))
    });
    let odd = all.filter(|(name, value, _)| {
        !only_tells_a_value(name) && given.contains(&((*name).clone(), (*value).clone()))
    });
    odd.map(|(name, value, pattern)| {
        let digest = Fingerprint::of([value.as_bytes(), pattern.as_bytes()]);
        TrustItem::new(TrustItemKind::Variable, name, digest.to_string())
            .from(format!("infra.yaml, stacks: \"{pattern}\""))
    })
    .collect()
}

/// Settings of tofu's command line in the tree: they can name programs and where providers come from.
///
/// A file that the caller's `TF_CLI_CONFIG_FILE` names is the caller's own choice.
fn cli_configs(project: &Project, stacks: &[&Stack]) -> Result<Vec<TrustItem>> {
    let folders = stacks.iter().map(|stack| project.root.join(&stack.path));
    let folders: BTreeSet<PathBuf> = folders.chain([project.root.clone()]).collect();
    let paths = folders.iter().flat_map(|dir| CLI_CONFIGS.map(|name| dir.join(name)));
    let item = |path: PathBuf| {
        let name = project.relative(&path).display().to_string();
        Ok(TrustItem::new(TrustItemKind::CliConfig, name, digest(&path)?))
    };
    paths.filter(|path| path.is_file()).map(item).collect()
}

/// Returns what opens files and states: keys outside of the project that its encrypted files need, the program
/// that prints their password, and programs that stacks name for the keys of their states.
pub fn key_items(project: &Project, stacks: &[&Stack], keyring: &Keyring<'_>) -> Result<Vec<TrustItem>> {
    let mut items = key_programs(project, stacks)?;
    // Most of the time there is nothing to ask about, and no file has to be read twice.
    if !keyring.withholds() {
        return Ok(items);
    }
    let program = keyring.password_program();
    for file in engine::secret_files_of(project, stacks)? {
        for key in keyring.withheld_for(&file) {
            let path = program.as_ref().filter(|path| path.display().to_string() == key.identity);
            items.push(match path {
                Some(path) => program_item(&project.root, path)?,
                None => {
                    let digest = Fingerprint::of([key.identity.as_bytes()]).to_string();
                    TrustItem::new(TrustItemKind::Key, key.name, digest).from(key.place)
                }
            });
        }
    }
    items.sort();
    items.dedup_by(|a, b| a.is_same(b));
    Ok(items)
}

pub(super) fn program_item(root: &Path, path: &Path) -> Result<TrustItem> {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    Ok(TrustItem::new(TrustItemKind::PasswordProgram, name, digest(path)?))
}

/// Returns whether a path lies below the root, as it is written or with every link followed.
fn is_below(root: &Path, path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.starts_with(root) || real(path).starts_with(real(root))
}

pub(super) fn digest(path: &Path) -> Result<String> {
    std::fs::File::open(path)
        .and_then(Fingerprint::of_reader)
        .map(|found| found.to_string())
        .map_err(io("read", path))
}
