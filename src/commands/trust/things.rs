//! Everything of a project that counts for trust, found without running any of it.
//!
//! One function for each kind; [`of_project`] is the whole list. A feature that runs
//! something of the repository adds its function here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::gate;
use crate::commands::Context;
use crate::commands::workspace::Workspace;
use crate::engine;
use crate::error::{Result, io};
use crate::model::project::{PythonPlugins, SecretsSettings};
use crate::model::{Environment, Fingerprint, Project, Stack};
use crate::process::{Git, TrackedFile};
use crate::render::plugin;
use crate::render::settings::resolve;
use crate::report::passphrase_prompt;
use crate::secrets::keyring::{KeyTrust, Keyring};
use crate::secrets::vault;
use crate::tofu;
use crate::trust::{Thing, ThingKind};

/// Settings of tofu's command line that a tree may bring.
const CLI_CONFIGS: [&str; 2] = [".terraformrc", ".tofurc"];

/// Where tofu finds providers and modules, below a stack or the root.
const DATA_FOLDERS: [&str; 2] = [".terraform", "terraform.d"];

/// Returns everything that the project brings.
pub(in crate::commands) async fn of_project(project: &Project, context: &Context) -> Result<Vec<Thing>> {
    let workspace = Workspace::load(context)?;
    let stacks: Vec<&Stack> = workspace.stacks.iter().collect();
    let mut things = plugins(project)?;
    things.extend(of_run(project, &stacks, context).await?);
    let prompt = passphrase_prompt(context.asking());
    let keyring = Keyring::load(workspace.key_places(context, KeyTrust::NONE), &prompt).await;
    things.extend(keys(project, &stacks, &keyring)?);
    things.sort();
    things.dedup_by(|a, b| a.is_same(b));
    Ok(things)
}

/// Returns what counts whenever tofu is to be run.
pub(in crate::commands) async fn of_run(
    project: &Project,
    stacks: &[&Stack],
    context: &Context,
) -> Result<Vec<Thing>> {
    let mut things = binary(project, &context.env)?;
    things.extend(variables(project));
    things.extend(cli_configs(project, stacks)?);
    things.extend(tofu_data(project, stacks, context).await);
    Ok(things)
}

/// Python code that `configure` would run; what `infra.yaml` denies never runs.
pub(in crate::commands) fn plugins(project: &Project) -> Result<Vec<Thing>> {
    if project.configure.python_plugins == Some(PythonPlugins::Deny) {
        return Ok(Vec::new());
    }
    let settings = resolve(&project.root, &project.configure)?;
    let found = match plugin::find(&project.root, &settings) {
        // One that nobody counts on and that cannot be found matters to nobody.
        Err(_) if project.configure.python_plugins.is_none() => None,
        found => found?,
    };
    Ok(found.iter().map(plugin_thing).collect())
}

/// Returns the thing that plugins are.
pub(in crate::commands) fn plugin_thing(plugins: &plugin::Plugins) -> Thing {
    let files: Vec<String> = plugins.files().iter().map(|file| format!("`{file}`")).collect();
    Thing::new(ThingKind::PythonPlugin, files.join(", "), plugins.plugin_hash()).from("makejinja.toml")
}

/// A `tofu.binary` below the root; one on PATH or outside is the person's own.
pub(in crate::commands) fn binary(project: &Project, env: &Environment) -> Result<Vec<Thing>> {
    let Some(path) = tofu::named_path(&project.root, &project.tofu, env) else { return Ok(Vec::new()) };
    if !is_below(&project.root, &path) || !path.is_file() {
        return Ok(Vec::new());
    }
    let name = project.relative(&path).display().to_string();
    Ok(vec![Thing::new(ThingKind::TofuBinary, name, digest(&path)?)])
}

/// Variables of `env:` that can do more than tell tofu or a provider a value.
fn variables(project: &Project) -> Vec<Thing> {
    let all = project
        .stack_settings
        .iter()
        .flat_map(|(pattern, settings)| settings.env.iter().map(move |(name, value)| (name, value, pattern)));
    let odd = all.filter(|(name, _, _)| !is_harmless(name));
    odd.map(|(name, value, pattern)| {
        let digest = Fingerprint::of([value.as_bytes(), pattern.as_bytes()]);
        Thing::new(ThingKind::Variable, name, digest.to_string())
            .from(format!("infra.yaml, stacks: \"{pattern}\""))
    })
    .collect()
}

/// Returns whether a variable only tells a value that a stack's own files could tell as well.
fn is_harmless(name: &str) -> bool {
    const NAMES: [&str; 12] = [
        "TF_WORKSPACE",
        "TF_INPUT",
        "TF_IN_AUTOMATION",
        "TF_REGISTRY_CLIENT_TIMEOUT",
        "TF_REGISTRY_DISCOVERY_RETRY",
        "GOGC",
        "GOMEMLIMIT",
        "GOMAXPROCS",
        "TZ",
        "LANG",
        "NO_COLOR",
        "AWS_EC2_METADATA_DISABLED",
    ];
    const PREFIXES: [&str; 6] =
        ["TF_VAR_", "TF_LOG", "TF_HTTP_RETRY_", "LC_", "AWS_REQUEST_CHECKSUM_", "AWS_RESPONSE_CHECKSUM_"];
    const SUFFIXES: [&str; 11] = [
        "_PROXY",
        "_REGION",
        "_ZONE",
        "_PROFILE",
        "_PROJECT",
        "_PROJECT_ID",
        "_TENANT_ID",
        "_SUBSCRIPTION_ID",
        "_ACCOUNT_ID",
        "_ENDPOINT",
        "_TIMEOUT",
    ];
    let upper = name.to_ascii_uppercase();
    // These decide what programs load and where they look, whatever they end with.
    let is_powerful =
        ["LD_", "DYLD_", "GIT_", "PYTHON", "SSH_"].iter().any(|prefix| upper.starts_with(prefix));
    !is_powerful
        && (NAMES.contains(&upper.as_str())
            || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
            || SUFFIXES.iter().any(|suffix| upper.ends_with(suffix)))
}

/// Settings of tofu's command line in the tree: they can name programs and where providers come from.
///
/// A file that the caller's `TF_CLI_CONFIG_FILE` names is the caller's word.
fn cli_configs(project: &Project, stacks: &[&Stack]) -> Result<Vec<Thing>> {
    let folders = stacks.iter().map(|stack| project.root.join(&stack.path));
    let folders: BTreeSet<PathBuf> = folders.chain([project.root.clone()]).collect();
    let paths = folders.iter().flat_map(|dir| CLI_CONFIGS.map(|name| dir.join(name)));
    let thing = |path: PathBuf| {
        let name = project.relative(&path).display().to_string();
        Ok(Thing::new(ThingKind::CliConfig, name, digest(&path)?))
    };
    paths.filter(|path| path.is_file()).map(thing).collect()
}

/// Providers and modules that git tracks; what `init` put there itself is not among them.
async fn tofu_data(project: &Project, stacks: &[&Stack], context: &Context) -> Vec<Thing> {
    let places = stacks.iter().map(|stack| stack.path.as_path()).chain([Path::new("")]);
    let folders = places.flat_map(|place| DATA_FOLDERS.map(|name| place.join(name)));
    let is_there = |folder: &PathBuf| project.root.join(folder).symlink_metadata().is_ok();
    let folders: BTreeSet<PathBuf> = folders.filter(is_there).collect();
    let git = Git::around(&project.root, &context.env, &context.interrupts).filter(|_| !folders.is_empty());
    let Some(git) = git else { return Vec::new() };
    let tracked = git.tracked_in(folders.iter().map(PathBuf::as_path)).await.unwrap_or_default();
    folders.iter().filter_map(|folder| data_thing(folder, &tracked)).collect()
}

/// Returns the thing that the tracked files of a folder are; git's own ids tell their content.
fn data_thing(folder: &Path, tracked: &[TrackedFile]) -> Option<Thing> {
    let own =
        tracked.iter().filter(|file| file.path.starts_with(folder) && !is_mere_record(folder, &file.path));
    let mut parts =
        own.flat_map(|file| [file.path.as_os_str().as_encoded_bytes(), file.recorded.as_bytes()]).peekable();
    parts.peek()?;
    let digest = Fingerprint::of(parts).to_string();
    Some(Thing::new(ThingKind::TofuData, folder.display().to_string(), digest))
}

/// Returns whether a file only says which backend and workspace were chosen; the stack's own files can
/// say that as well.
fn is_mere_record(folder: &Path, path: &Path) -> bool {
    ["terraform.tfstate", "environment"].iter().any(|name| path == folder.join(name))
}

/// Keys outside of the project that its encrypted files need, and the program that prints their password.
pub(in crate::commands) fn keys(
    project: &Project,
    stacks: &[&Stack],
    keyring: &Keyring<'_>,
) -> Result<Vec<Thing>> {
    // Most of the time there is nothing to ask about, and no file has to be read twice.
    if !keyring.withholds() {
        return Ok(Vec::new());
    }
    let program = keyring.password_program();
    let mut things = Vec::new();
    for file in engine::secret_files_of(project, stacks)? {
        for key in keyring.withheld_for(&file) {
            let path = program.as_ref().filter(|path| path.display().to_string() == key.identity);
            things.push(match path {
                Some(path) => program_thing(&project.root, path)?,
                None => {
                    let digest = Fingerprint::of([key.identity.as_bytes()]).to_string();
                    Thing::new(ThingKind::Key, key.name, digest).from(key.place)
                }
            });
        }
    }
    things.sort();
    things.dedup_by(|a, b| a.is_same(b));
    Ok(things)
}

/// Returns what may open files whose content goes to the person alone: all of their keys, and the
/// program that `infra.yaml` names for a password if the project is trusted with it.
pub(in crate::commands) fn key_trust(root: &Path, settings: &SecretsSettings, context: &Context) -> KeyTrust {
    let path = settings.ansible_vault_password_file.as_deref();
    let program = path.and_then(|path| vault::password_program(root, path, &context.env));
    let thing = program.and_then(|path| program_thing(root, &path).ok());
    match thing.map(|thing| gate::missing(root, vec![thing], context)) {
        Some(Ok(missing)) if missing.is_empty() => KeyTrust::ALL,
        _ => KeyTrust::NO_PROGRAMS,
    }
}

fn program_thing(root: &Path, path: &Path) -> Result<Thing> {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    Ok(Thing::new(ThingKind::PasswordProgram, name, digest(path)?))
}

/// Returns whether a path lies below the root, as it is written or with every link followed.
fn is_below(root: &Path, path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.starts_with(root) || real(path).starts_with(real(root))
}

fn digest(path: &Path) -> Result<String> {
    std::fs::File::open(path)
        .and_then(Fingerprint::of_reader)
        .map(|found| found.to_string())
        .map_err(io("read", path))
}
