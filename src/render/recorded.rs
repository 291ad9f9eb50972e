//! Which files version control has exactly as they lie in the tree: replacing those loses nothing.
//!
//! Asked only where a file would be replaced that `configure` does not know, as in a fresh
//! clone. No repository and no git mean that nothing is recorded.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::model::Environment;
use crate::process::{Interrupts, Invocation, capture};

/// Returns the files below the root that are committed and unchanged since, relative to it.
pub async fn recorded_files(root: &Path, env: &Environment, interrupts: &Interrupts) -> HashSet<PathBuf> {
    let ask = async |args: &[&str]| {
        let call = args.iter().fold(Invocation::new("git", root, env.clone()), Invocation::arg);
        let answer = capture(call, interrupts).await.ok()?;
        answer.status.success().then(|| paths(answer.stdout.unmasked()))
    };
    let Some(mut recorded) = ask(&["ls-files", "-z"]).await else { return HashSet::new() };
    let Some(changed) = ask(&["diff", "--name-only", "--relative", "-z", "HEAD"]).await else {
        return HashSet::new();
    };
    recorded.retain(|path| !changed.contains(path));
    recorded
}

fn paths(bytes: &[u8]) -> HashSet<PathBuf> {
    let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect()
}
