//! Providers and modules that came with the repository: tofu runs what it finds in
//! `.terraform` and in `terraform.d/plugins`.
//!
//! `init` makes the first, so it counts only where git tracks it, or where git cannot say and
//! nothing proves that this person's `init` made it; nothing but a repository brings the second.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::commands::Context;
use crate::engine;
use crate::error::{Error, Result, io};
use crate::model::{Project, Stack, hex};
use crate::process::Git;
use crate::trust::{TrustItem, TrustItemKind, UserKey};

const DATA: &str = ".terraform";
const PLUGINS: &str = "terraform.d/plugins";

/// Parts of a data folder that hold code.
const CODE: [&str; 3] = ["providers", "plugins", "modules"];

/// More files than any project brings; what has more is not looked at, and refused.
const MOST: usize = 100_000;

/// Returns what the stacks, and the root, bring.
pub(super) async fn tofu_data(
    project: &Project,
    stacks: &[&Stack],
    context: &Context,
) -> Result<Vec<TrustItem>> {
    let places = stacks.iter().map(|stack| stack.path.as_path()).chain([Path::new("")]);
    let is_there = |path: &PathBuf| project.root.join(path).symlink_metadata().is_ok();
    let existing = |name: &str| -> BTreeSet<PathBuf> {
        places.clone().map(|place| place.join(name)).filter(|path| is_there(path)).collect()
    };
    let mut brought: Vec<PathBuf> = existing(PLUGINS).into_iter().collect();
    brought.extend(tracked_data(project, stacks, existing(DATA), context).await);
    brought.iter().map(|path| item(project, path)).collect()
}

fn item(project: &Project, path: &Path) -> Result<TrustItem> {
    Ok(TrustItem::new(TrustItemKind::TofuData, path.display().to_string(), digest(&project.root.join(path))?))
}

/// Returns the data folders that a repository brought; each repository is asked once.
async fn tracked_data(
    project: &Project,
    stacks: &[&Stack],
    folders: BTreeSet<PathBuf>,
    context: &Context,
) -> Vec<PathBuf> {
    let mut by_repository: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for folder in folders {
        let full = project.root.join(&folder);
        // A stack may lie in a submodule, which has an index of its own.
        let top = full.ancestors().skip(1).find(|above| above.join(".git").exists());
        if let Some(top) = top {
            by_repository.entry(top.to_owned()).or_default().push(folder);
        }
    }
    let mut brought = Vec::new();
    for (top, folders) in by_repository {
        let places: Vec<PathBuf> = folders
            .iter()
            .filter_map(|folder| project.root.join(folder).strip_prefix(&top).ok().map(Path::to_owned))
            .collect();
        let git = Git::around(&top, &context.env, &context.interrupts);
        let tracked = match &git {
            Some(git) => git.tracked_in(places.iter().map(PathBuf::as_path)).await,
            None => None,
        };
        let is_tracked = |place: &PathBuf| match &tracked {
            Some(files) => {
                files.iter().any(|file| file.path.starts_with(place) && !is_mere_record(place, &file.path))
            }
            None => has_code(&top.join(place)) && !is_made_here(project, stacks, &top.join(place), context),
        };
        let own = folders.into_iter().zip(&places).filter(|(_, place)| is_tracked(place));
        brought.extend(own.map(|(folder, _)| folder));
    }
    brought
}

fn has_code(folder: &Path) -> bool {
    CODE.iter().any(|part| folder.join(part).exists())
}

/// Returns whether this person's own `init` prepared the stack that a data folder belongs to.
fn is_made_here(project: &Project, stacks: &[&Stack], folder: &Path, context: &Context) -> bool {
    let stack = stacks.iter().find(|stack| project.root.join(&stack.path).join(DATA) == folder);
    let key = UserKey::existing(&context.env).ok().flatten();
    stack.zip(key).is_some_and(|(stack, key)| engine::is_prepared_by(&key, project, stack))
}

/// Returns whether a file only says which backend and workspace were chosen; the stack's own files can
/// say that as well.
fn is_mere_record(folder: &Path, path: &Path) -> bool {
    ["terraform.tfstate", "environment"].iter().any(|name| path == folder.join(name))
}

/// Digests the names and contents of everything below a folder, links followed: that is what runs.
fn digest(folder: &Path) -> Result<String> {
    let mut files = BTreeSet::new();
    collect(folder, &mut BTreeSet::new(), &mut files)?;
    let mut digest = Sha256::new();
    for path in files {
        let below = path.strip_prefix(folder).unwrap_or(&path);
        if is_mere_record(Path::new(""), below) {
            continue;
        }
        digest.update(below.as_os_str().as_encoded_bytes());
        digest.update([0]);
        let mut content = Sha256::new();
        let copied = std::fs::File::open(&path).and_then(|mut file| std::io::copy(&mut file, &mut content));
        copied.map_err(io("read", &path))?;
        digest.update(content.finalize());
    }
    Ok(hex(&digest.finalize()))
}

fn collect(path: &Path, seen: &mut BTreeSet<PathBuf>, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    let Ok(facts) = std::fs::metadata(path) else { return Ok(()) };
    if facts.is_file() {
        files.insert(path.to_owned());
    } else if facts.is_dir() && std::fs::canonicalize(path).is_ok_and(|real| seen.insert(real)) {
        for entry in std::fs::read_dir(path).map_err(io("read", path))?.flatten() {
            collect(&entry.path(), seen, files)?;
        }
    }
    if files.len() > MOST {
        return Err(Error::invalid(format!("`{}` holds more files than can be looked at", path.display()))
            .hint(
                "providers do not belong into a repository: remove the folder, and `infra init` gets them",
            ));
    }
    Ok(())
}
