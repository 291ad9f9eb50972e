//! Git submodules that are named but not checked out: what lies in them is missed after a plain clone.

use std::fs;
use std::path::{Path, PathBuf};

/// How git is told that the content of every submodule is wanted.
pub const FETCH_SUBMODULES: &str = "git submodule update --init";

/// A submodule without content.
#[derive(Clone, Debug)]
pub struct MissingSubmodule {
    /// What git calls it: its path below the repository.
    pub name: String,
    /// Where its content would be.
    pub path: PathBuf,
}

/// Returns the submodules of the repository around a folder that have no content yet.
pub fn missing_submodules(folder: &Path) -> Vec<MissingSubmodule> {
    let Some(top) = folder.ancestors().find(|folder| folder.join(".git").exists()) else { return Vec::new() };
    let text = fs::read_to_string(top.join(".gitmodules")).unwrap_or_default();
    let named = text.lines().filter_map(|line| {
        let value = line.trim().strip_prefix("path")?.trim_start().strip_prefix('=')?;
        Some(value.trim().trim_matches('"').to_owned())
    });
    let all = named.map(|name| MissingSubmodule { path: top.join(&name), name });
    all.filter(|submodule| !submodule.name.is_empty() && !submodule.path.join(".git").exists()).collect()
}
