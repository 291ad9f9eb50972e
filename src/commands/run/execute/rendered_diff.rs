//! What a change of templates and data does to the rendered files, for those who review plans: the
//! files of the base of a pull request beside those of today, both rendered in memory.
//!
//! Nothing is asked, and what cannot be told is left out: no base, no repository, a project with a
//! plugin, templates that cannot be rendered. Encrypted files are only named, and values under names
//! that say that they are secret are masked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::atomic_file;
use crate::commands::Context;
use crate::commands::setup::{Look, has_templates, look};
use crate::model::{Environment, Project, Values};
use crate::process::Git;
use crate::project;
use crate::render::FileChange;
use crate::render::settings::{BUILT_IN, resolve};
use crate::render::unified_diff;
use crate::secrets::redactor::Redactor;

/// What decides how a project is rendered.
const SETTINGS: [&str; 3] = ["infra.yaml", "makejinja.toml", "derive.yaml"];

/// The ends of names whose values are secret.
const SECRET_NAMES: [&str; 6] = ["password", "passwd", "secret", "token", "api_key", "private_key"];

/// Returns the difference as a unified diff; nothing where there is none.
pub(super) async fn rendered_diff(project: &Project, context: &Context) -> Option<String> {
    if !has_templates(project).ok()? {
        return None;
    }
    let git = Git::around(&project.root, &context.env, &context.interrupts)?;
    let commits = git.commit_with_parents().await?;
    let base = base_of(&git, &commits, &context.env).await?;
    let places = places_of(project)?;
    let mut changed = git.changed_between(&base, commits.first()?).await?;
    changed.extend(git.status().await?.changed);
    if !changed.iter().any(|path| places.iter().any(|place| path.starts_with(place))) {
        return None;
    }
    let files = git.files_at(&base, &places).await?;
    let (before, after) = (look_at_base(project, &files, context)?, look(project, context).ok()?);
    masked_diff(&before, &after)
}

/// Returns the commit that the pull request is compared with.
async fn base_of(git: &Git, commits: &[String], env: &Environment) -> Option<String> {
    let is_merge_ref =
        env.get("GITHUB_REF").is_some_and(|name| name.starts_with("refs/pull/") && name.ends_with("/merge"));
    if let ([_, base, _], true) = (commits, is_merge_ref) {
        return Some(base.clone());
    }
    let names = ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CI_COMMIT_TARGET_BRANCH"];
    let named = names.iter().filter_map(|name| env.get(name));
    let branches = named.chain(["HEAD", "main", "master"]);
    for branch in branches {
        if let Some(base) = git.parted_from(&format!("refs/remotes/origin/{branch}")).await {
            return Some(base);
        }
    }
    None
}

/// Returns everything that is read for a rendering, below the root; nothing where a plugin has a say.
fn places_of(project: &Project) -> Option<Vec<PathBuf>> {
    let settings = resolve(&project.root, &project.configure).ok()?;
    if !settings.plugins.is_empty() {
        return None;
    }
    let inputs = settings.inputs.iter().filter(|input| !input.starts_with(BUILT_IN));
    let named = inputs.chain(&settings.data).chain(&settings.derive).map(PathBuf::from);
    Some(named.chain(SETTINGS.iter().map(PathBuf::from)).collect())
}

/// Renders the files of the base; data that git does not hold there is that of today.
fn look_at_base(project: &Project, files: &[(PathBuf, Vec<u8>)], context: &Context) -> Option<Look> {
    let folder = tempfile::tempdir().ok()?;
    // The name of the folder may be that of the project.
    let root = folder.path().join(project.root.file_name()?);
    for (path, bytes) in files {
        atomic_file::write(&root.join(path), bytes).ok()?;
    }
    for name in resolve(&project.root, &project.configure).ok()?.data {
        let (there, here) = (root.join(&name), project.root.join(&name));
        if !there.exists() && here.is_file() {
            atomic_file::write(&there, &std::fs::read(here).ok()?).ok()?;
        }
    }
    look(&project::load(&root).ok()?, context).ok()
}

fn masked_diff(before: &Look, after: &Look) -> Option<String> {
    let mut secrets = Vec::new();
    [before, after].into_iter().for_each(|look| secret_values(&look.values, &mut secrets));
    let mask = Redactor::new(secrets.iter().map(String::as_bytes)).ok()?;
    let diffs: Vec<String> = changes(before, after).iter().map(unified_diff).collect();
    let lines = diffs.iter().flat_map(|diff| diff.lines()).map(|line| mask.line(line).into_owned());
    let text: Vec<String> = lines.collect();
    (!text.is_empty()).then(|| text.join("\n") + "\n")
}

fn changes(before: &Look, after: &Look) -> Vec<FileChange> {
    let by_path = |look: &Look| -> BTreeMap<PathBuf, Vec<u8>> {
        look.files.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect()
    };
    let (old, new) = (by_path(before), by_path(after));
    let mut paths: Vec<&Path> = old.keys().chain(new.keys()).map(PathBuf::as_path).collect();
    paths.sort_unstable();
    paths.dedup();
    let differing = paths.into_iter().filter(|path| old.get(*path) != new.get(*path));
    let change = |path: &Path| FileChange {
        path: path.to_owned(),
        before: old.get(path).cloned(),
        after: new.get(path).cloned(),
        mode: 0o644,
    };
    differing.map(change).collect()
}

/// Collects the values under names that say that they are secret.
fn secret_values(values: &Values, found: &mut Vec<String>) {
    for (name, value) in values {
        collect(name, value, found);
    }
}

fn collect(name: &str, value: &Value, found: &mut Vec<String>) {
    let name = name.to_lowercase();
    match value {
        Value::Object(below) => below.iter().for_each(|(name, value)| collect(name, value, found)),
        Value::Array(items) => items.iter().for_each(|item| collect(&name, item, found)),
        Value::String(text) if SECRET_NAMES.iter().any(|end| name.ends_with(end)) => found.push(text.clone()),
        _ => {}
    }
}
