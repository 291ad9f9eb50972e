//! Which encrypted files belong to a stack.
//!
//! Those that `infra.yaml` names for it; else those in its folder that are named like
//! secrets, and the nearest `secrets.sops.yaml` above it. Reads folders, opens nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::secret_names::{SHARED, is_secret};
use super::var_files::sealed_var_files;
use crate::error::{Error, Result, io};
use crate::model::{Project, Stack, StackSettings};
use crate::stacks::SettingsBook;

/// Returns the encrypted files of a stack, the farthest first, so that the nearest wins.
pub(super) fn secret_files(
    project: &Project,
    stack: &Stack,
    settings: &StackSettings,
) -> Result<Vec<PathBuf>> {
    let dir = project.root.join(&stack.path);
    let mut files = named_or_found(project, stack, settings, &dir)?;
    let sealed = sealed_var_files(&dir, &settings.var_files);
    files.extend(sealed.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>());
    Ok(files)
}

fn named_or_found(
    project: &Project,
    stack: &Stack,
    settings: &StackSettings,
    dir: &Path,
) -> Result<Vec<PathBuf>> {
    if !settings.secrets.is_empty() {
        return settings.secrets.iter().map(|file| named(project, stack, file)).collect();
    }
    let mut files = shared_files(project, dir)?;
    let own = in_folder(dir)?.into_iter().filter(|name| !settings.var_files.contains(name));
    files.extend(own.map(|name| dir.join(name)));
    files.dedup();
    Ok(files)
}

/// Returns the encrypted files of several stacks, each once.
pub fn secret_files_of(project: &Project, stacks: &[&Stack]) -> Result<BTreeSet<PathBuf>> {
    let book = SettingsBook::of(project);
    let mut files = BTreeSet::new();
    for stack in stacks {
        files.extend(secret_files(project, stack, &book.settings_for(&stack.id))?);
    }
    Ok(files)
}

/// Returns what all stacks share: the files that the project names, or the nearest one above.
fn shared_files(project: &Project, dir: &Path) -> Result<Vec<PathBuf>> {
    if !project.secrets.files.is_empty() {
        return project.secrets.files.iter().map(|file| of_project(project, file)).collect();
    }
    let above = dir.ancestors().skip(1).take_while(|folder| folder.starts_with(&project.root));
    Ok(above.map(|folder| folder.join(SHARED)).find(|file| file.is_file()).into_iter().collect())
}

fn in_folder(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(io("read", dir))? {
        let name = entry.map_err(io("read", dir))?.file_name().to_string_lossy().into_owned();
        if is_secret(&name) {
            names.push(name);
        }
    }
    // The shared name first, so that a file of variables wins over it.
    names.sort_by_key(|name| (name != SHARED, name.clone()));
    Ok(names)
}

fn named(project: &Project, stack: &Stack, file: &str) -> Result<PathBuf> {
    let near = project.root.join(&stack.path).join(file);
    if near.is_file() { Ok(near) } else { of_project(project, file) }
}

fn of_project(project: &Project, file: &str) -> Result<PathBuf> {
    let path = project.root.join(file);
    if path.is_file() {
        return Ok(path);
    }
    Err(Error::invalid(format!("`secrets` names a file that is not there: `{file}`"))
        .at("infra.yaml")
        .hint("paths are relative to the stack, or to the project"))
}
