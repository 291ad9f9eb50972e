//! The plans in full, one file a stack, for those whom the comment has no room for.

use std::path::Path;

use super::gathered::Gathered;
use crate::commands::Context;
use crate::error::Result;
use crate::model::{Fingerprint, StackId, counted};
use crate::{atomic_file, error};

/// Longer names are no names of files.
const LONGEST: usize = 200;

/// Writes every plan, masked as it was recorded.
pub(super) fn write(dir: &Path, gathered: &Gathered, context: &Context) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(error::io("make", dir))?;
    let mut count = 0;
    for (run, id) in gathered.stacks() {
        let Some(recorded) = gathered.runs.get(run) else { continue };
        let failure = recorded.report.stacks.iter().find(|stack| stack.id == *id);
        let failure = failure.and_then(|stack| stack.error.as_ref());
        let text = match (recorded.texts.get(id), failure) {
            (_, Some(error)) => format!("{}\n{}\n", error.summary, error.detail),
            (Some(lines), None) => lines.join("\n") + "\n",
            (None, None) => continue,
        };
        atomic_file::write(&dir.join(file_name(id)), text.as_bytes())?;
        count += 1;
    }
    context.terminal.note(&format!("{} in `{}`", counted(count, "whole plan"), dir.display()));
    Ok(())
}

/// Returns the name of a stack's file: one part of a path, whatever the stack is called.
fn file_name(id: &StackId) -> String {
    let name: String =
        id.file_name().chars().map(|sign| if sign.is_control() { '_' } else { sign }).collect();
    if name.len() <= LONGEST {
        return format!("{name}.txt");
    }
    let digest = Fingerprint::of([id.as_str().as_bytes()]).to_string();
    let short: String = digest.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
    format!("{short}.txt")
}
