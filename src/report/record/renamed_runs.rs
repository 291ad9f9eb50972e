//! The records of a stack that was renamed: earlier runs name it as it is called now, so that
//! `--resume`, durations and logs go on.

use std::path::Path;

use serde_json::Value;

use super::durations::rename_durations;
use super::file_names::REPORT;
use crate::atomic_file;
use crate::model::StackId;

/// Gives a stack its new name in the records of earlier runs; what cannot be written stays as it is.
pub fn rename_in_runs(runs_dir: &Path, old: &StackId, new: &StackId) {
    rename_durations(runs_dir, old, new);
    let Ok(entries) = std::fs::read_dir(runs_dir) else { return };
    for dir in entries.flatten().map(|entry| entry.path()) {
        rename_in_report(&dir.join(REPORT), old, new);
        let log = |id: &StackId| dir.join("logs").join(format!("{}.log", id.state_name()));
        let (from, to) = (log(old), log(new));
        if from.is_file() && to.parent().is_some_and(|parent| atomic_file::create_private_dir(parent).is_ok())
        {
            let _ = std::fs::rename(from, to);
        }
    }
}

fn rename_in_report(path: &Path, old: &StackId, new: &StackId) {
    let Ok(bytes) = std::fs::read(path) else { return };
    let Ok(mut report) = serde_json::from_slice::<Value>(&bytes) else { return };
    let stacks = report.get_mut("stacks").and_then(Value::as_array_mut);
    let mut changed = false;
    for id in stacks.into_iter().flatten().filter_map(|stack| stack.get_mut("id")) {
        if id.as_str() == Some(old.as_str()) {
            *id = Value::from(new.as_str());
            changed = true;
        }
    }
    if changed {
        let _ = atomic_file::write(path, &serde_json::to_vec_pretty(&report).unwrap_or_default());
    }
}
