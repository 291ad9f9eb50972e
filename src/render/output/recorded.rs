//! Which files version control has exactly as they lie in the tree: replacing those loses nothing.
//!
//! Asked only where a file would be replaced that `configure` does not know, as in a fresh
//! clone. No repository and no git mean that nothing is recorded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::model::Environment;
use crate::process::{Git, Interrupts};

/// Returns the files below the root that are committed and unchanged since, relative to it.
pub async fn recorded_files(root: &Path, env: &Environment, interrupts: &Interrupts) -> HashSet<PathBuf> {
    unchanged_files(root, env, interrupts).await.unwrap_or_default()
}

async fn unchanged_files(
    root: &Path,
    env: &Environment,
    interrupts: &Interrupts,
) -> Option<HashSet<PathBuf>> {
    let git = Git::around(root, env, interrupts)?;
    let status = git.status().await?;
    // Without a commit nothing could be got back.
    status.commit.as_ref()?;
    let changed: HashSet<PathBuf> = status.changed.into_iter().collect();
    let tracked = git.tracked().await?.into_iter().map(|file| file.path);
    Some(tracked.filter(|path| !changed.contains(path)).collect())
}
