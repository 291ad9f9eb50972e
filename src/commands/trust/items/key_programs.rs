//! Programs that a stack's own files name to encrypt its state: tofu runs them for every look
//! at that state, `output` and `show` included.

use std::path::PathBuf;

use super::digest;
use crate::error::Result;
use crate::model::{Project, Stack};
use crate::stacks::names_key_program;
use crate::trust::{TrustItem, TrustItemKind};

/// Returns the files that name such a program; one that only looks like it is asked about as well.
pub fn key_programs(project: &Project, stacks: &[&Stack]) -> Result<Vec<TrustItem>> {
    let mut items = Vec::new();
    for path in stacks.iter().flat_map(|stack| configuration(&project.root.join(&stack.path))) {
        let is_json = path.extension().is_some_and(|end| end == "json");
        // Letters that are not UTF-8 may stand in comments, and tofu reads on.
        let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        if text.is_ok_and(|text| names_key_program(&text, is_json)) {
            let name = project.relative(&path).display().to_string();
            items.push(TrustItem::new(TrustItemKind::KeyProgram, name, digest(&path)?));
        }
    }
    items.sort();
    items.dedup();
    Ok(items)
}

/// Returns the files of a stack; only those of its own folder may say how it is encrypted.
fn configuration(dir: &std::path::Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let ends = [".tf", ".tofu", ".tf.json", ".tofu.json"];
    files.filter(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end))).collect()
}
