//! Reads `infra.yaml` into the model. Every mistake is told with file, line and column.
//! A missing or empty file is a project with conventional settings. Begin at [`load`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::string::FromUtf8Error;

use serde_saphyr::Spanned;

use super::config::{ConfigureConfig, InfraConfig, RunConfig, SecretsConfig};
use super::fault::YamlSource;
use super::infra_folder::refuse_links;
use super::inventory_rules::check_rules;
use super::stack_config::StackConfig;
use crate::error::{Error, Result, io};
use crate::model::{
    ConfigureSettings, Project, RunSettings, SecretsSettings, StackId, StackSettings, StackWorkspace,
    StateSettings, TofuSettings, nearest,
};

const FILE: &str = "infra.yaml";

/// Loads the project at a root that `find_root` returned.
///
/// One whose `.infra` leads elsewhere is refused here, before anybody can write through it.
pub fn load(root: &Path) -> Result<Project> {
    refuse_links(root)?;
    let text = read(&root.join(FILE))?;
    parse(root, &text)
}

/// Returns the text of `infra.yaml`, empty where there is no such file.
fn read(path: &Path) -> Result<String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        // A link that leads nowhere is not the same as no file.
        Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => Vec::new(),
        // A folder of this name is something else.
        Err(_) if path.is_dir() => Vec::new(),
        Err(error) => return Err(io("read", path)(error)),
    };
    String::from_utf8(bytes).map_err(|error| not_text(&error))
}

fn not_text(error: &FromUtf8Error) -> Error {
    let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
    let line = valid.filter(|byte| **byte == b'\n').count() + 1;
    Error::invalid(format!("`{FILE}` is not text: expected UTF-8, found another byte"))
        .at(format!("{FILE}:{line}"))
        .hint("save the file as UTF-8")
}

/// Reads the text of an `infra.yaml` that is not the one on the disk.
pub fn parse(root: &Path, text: &str) -> Result<Project> {
    let source = YamlSource { file: FILE, text };
    let options = serde_saphyr::options! { with_snippet: false };
    let config: InfraConfig =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| source.explain(&error))?;
    check(&config, &source)?;
    Ok(project(root, config))
}

/// Checks what the shape alone does not: pools that exist, globs that parse, roots inside the project.
fn check(config: &InfraConfig, source: &YamlSource<'_>) -> Result<()> {
    for root in &config.stacks.roots {
        check_root(root, source)?;
    }
    for (pattern, settings) in &config.stacks.patterns {
        check_pattern(pattern, source)?;
        check_settings(pattern, settings, config, source)?;
        if let Some(was) = &settings.was {
            check_was(pattern, was, source)?;
        }
        for (name, settings) in &settings.workspaces {
            check_workspace(pattern, (name, settings.as_ref()), config, source)?;
        }
    }
    check_rules(&config.inventory, source)
}

/// Checks what may be said of a stack and of each of its workspaces.
fn check_settings(
    pattern: &Spanned<String>,
    settings: &StackConfig,
    config: &InfraConfig,
    source: &YamlSource<'_>,
) -> Result<()> {
    if let Some(pool) = &settings.pool {
        check_pool(pool, config, source)?;
    }
    settings.env.iter().try_for_each(|(name, value)| check_variable(pattern, name, value, source))
}

/// A workspace has a name that tofu takes, and settings of its own but no workspaces.
fn check_workspace(
    pattern: &Spanned<String>,
    (name, settings): (&str, Option<&StackConfig>),
    config: &InfraConfig,
    source: &YamlSource<'_>,
) -> Result<()> {
    let wrong = |message: String| source.wrong(pattern.referenced, message);
    if name.contains('@') || !StackWorkspace::is_name(name) {
        let message =
            format!("`workspaces` of `{}` has `{name}`, which is no name of a workspace", pattern.value);
        return Err(wrong(message).hint("letters, digits, `-`, `_` and `.` make one"));
    }
    let Some(settings) = settings else { return Ok(()) };
    let place = format!("`{name}` under `workspaces` of `{}`", pattern.value);
    if !settings.workspaces.is_empty() || settings.workspace_variable.is_some() {
        return Err(wrong(format!("{place} cannot have workspaces of its own"))
            .hint("`workspaces` and `workspace_variable` belong to the stack"));
    }
    if settings.env.contains_key("TF_WORKSPACE") || settings.env.contains_key("TF_DATA_DIR") {
        return Err(wrong(format!("{place} cannot set `TF_WORKSPACE` or `TF_DATA_DIR`: infra does")));
    }
    match &settings.was {
        Some(was) if was.value.trim_matches('/').is_empty() => {
            Err(source.wrong(was.referenced, format!("`was` of {place} must be the id of one stack")))
        }
        _ => check_settings(pattern, settings, config, source),
    }
}

/// A state can come along with one stack only.
fn check_was(pattern: &Spanned<String>, was: &Spanned<String>, source: &YamlSource<'_>) -> Result<()> {
    let is_glob = |text: &str| text.contains(['*', '?', '[', '{']);
    let flaw = if is_glob(&pattern.value) {
        format!("`was` of `{}` would hold for several stacks", pattern.value)
    } else if was.value.trim_matches('/').is_empty() || is_glob(&was.value) {
        format!("`was` of `{}` must be the id of one stack, found `{}`", pattern.value, was.value)
    } else if was.value == pattern.value {
        format!("`was` of `{}` is the id that it has", pattern.value)
    } else {
        return Ok(());
    };
    Err(source
        .wrong(was.referenced, flaw)
        .hint("write it under the new id: `\"01-base/network\": { was: \"01-base/net\" }`"))
}

/// A sign in a name that ends it would set another variable than the one that is read here.
fn check_variable(pattern: &Spanned<String>, name: &str, value: &str, source: &YamlSource<'_>) -> Result<()> {
    let is_name = !name.is_empty() && !name.contains(|sign: char| sign == '=' || sign.is_control());
    if is_name && !value.contains('\0') {
        return Ok(());
    }
    let shown = name.escape_debug();
    let message =
        format!("`env` of `{}` has `{shown}`, which is no name and value of a variable", pattern.value);
    Err(source.wrong(pattern.referenced, message).hint("write it as `NAME: value`"))
}

fn check_root(root: &Spanned<String>, source: &YamlSource<'_>) -> Result<()> {
    let leaves = Path::new(&root.value)
        .components()
        .any(|part| matches!(part, Component::ParentDir | Component::RootDir | Component::Prefix(_)));
    if !leaves && !root.value.is_empty() {
        return Ok(());
    }
    let message = format!("`roots` must name folders below the project, found `{}`", root.value);
    Err(source.wrong(root.referenced, message))
}

fn check_pattern(pattern: &Spanned<String>, source: &YamlSource<'_>) -> Result<()> {
    let Err(error) = globset::GlobBuilder::new(&pattern.value).literal_separator(true).build() else {
        return Ok(());
    };
    let message = format!("`{}` is neither a stack nor a glob", pattern.value);
    Err(source.wrong(pattern.referenced, message).detail(error.kind().to_string()))
}

fn check_pool(pool: &Spanned<String>, config: &InfraConfig, source: &YamlSource<'_>) -> Result<()> {
    if config.pools.contains_key(&pool.value) {
        return Ok(());
    }
    let guess = nearest(&pool.value, config.pools.keys().map(String::as_str));
    let hint = match guess {
        Some(guess) => format!("did you mean `{guess}`?"),
        None => format!("add it: `pools: {{ {}: 2 }}`", pool.value),
    };
    let message = format!("pool `{}` is not among `pools`", pool.value);
    Err(source.wrong(pool.referenced, message).hint(hint))
}

fn project(root: &Path, config: InfraConfig) -> Project {
    let InfraConfig { name, tofu, configure, secrets, state, stacks, pools, run, inventory, lint, bundle } =
        config;
    let name = name.filter(|name| !name.trim().is_empty());
    Project {
        root: root.to_path_buf(),
        is_named: name.is_some(),
        name: name.unwrap_or_else(|| folder_name(root)),
        tofu: TofuSettings { version: tofu.version, binary: tofu.binary },
        configure: configure_settings(configure),
        secrets: secrets_settings(secrets),
        state: StateSettings {
            store: state.store,
            url: state.url,
            encryption: state.encryption,
            keep_versions: state.keep_versions,
            keep_days: state.keep_days,
            lock_file: state.lock_file.0,
            copies: state.copies.0,
        },
        stack_roots: stacks.roots.iter().map(|root| normalized(&root.value)).collect(),
        layers: stacks.layers,
        stack_settings: stacks
            .patterns
            .into_iter()
            .map(|(pattern, settings)| (pattern.value, stack_settings(settings)))
            .collect(),
        undeclared: BTreeMap::new(),
        begun: BTreeSet::new(),
        run: run_settings(run),
        pools: pools.into_iter().map(|(name, size)| (name, usize::from(size.get()))).collect(),
        inventory: inventory.into_rules(),
        lint: lint.settings(),
        bundle_recipients: bundle.recipients,
        borrowed_dir: None,
    }
}

fn folder_name(root: &Path) -> String {
    root.file_name().map_or_else(|| "infra".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Returns a path without `./` and trailing slashes; `.` is the project itself.
fn normalized(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

fn configure_settings(config: ConfigureConfig) -> ConfigureSettings {
    ConfigureSettings {
        inputs: config.inputs,
        output: config.output,
        data: config.data,
        derive: config.derive,
        python_plugins: config.python_plugins,
        delimiters: config.delimiters.map(|delimiters| delimiters.0),
        undefined: config.undefined,
        exclude: config.exclude,
    }
}

fn secrets_settings(config: SecretsConfig) -> SecretsSettings {
    SecretsSettings {
        files: config.files,
        age_key: config.age_key,
        ansible_vault_password_file: config.ansible_vault_password_file,
    }
}

fn stack_settings(config: StackConfig) -> StackSettings {
    StackSettings {
        pool: config.pool.map(|pool| pool.value),
        tags: config.tags,
        depends_on: config.depends_on,
        var_files: config.var_files,
        secrets: config.secrets,
        inputs: config.inputs.into_iter().map(|(name, output)| (name, output.0)).collect(),
        env: config.env,
        backend_config: config.backend_config.into_iter().map(|entry| entry.0).collect(),
        protect: config.protect,
        was: config.was.map(|was| StackId::new(was.value)),
        workspaces: config
            .workspaces
            .into_iter()
            .map(|(name, settings)| (name, stack_settings(settings.unwrap_or_default())))
            .collect(),
        workspace_variable: config.workspace_variable,
    }
}

fn run_settings(config: RunConfig) -> RunSettings {
    RunSettings {
        parallelism: config.parallelism.map(|count| usize::from(count.get())),
        retries: config.retries,
        transient_errors: config.transient_errors,
    }
}
