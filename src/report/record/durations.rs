//! How long stacks took, for the runs that come: a small file beside the records, by
//! command and stack.
//!
//! Written at the end of runs over several stacks; one that cannot be read is as good as
//! none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::atomic_file;
use crate::model::{RunCommand, RunReport, StackId, StackResult};

type Durations = BTreeMap<String, BTreeMap<StackId, f64>>;

/// Returns how long stacks took in earlier runs of a command, in seconds.
pub fn read_durations(runs_dir: &Path, command: RunCommand) -> BTreeMap<StackId, f64> {
    read(runs_dir).remove(command.name()).unwrap_or_default()
}

/// Keeps what a run learnt; stacks that did not run to their end say nothing.
pub fn keep_durations(runs_dir: &Path, report: &RunReport) {
    let ran =
        |result| matches!(result, StackResult::Succeeded | StackResult::NoChanges | StackResult::Failed);
    let mut durations = read(runs_dir);
    let known = durations.entry(report.command.name().to_owned()).or_default();
    for stack in report.stacks.iter().filter(|stack| ran(stack.result)) {
        known.insert(stack.id.clone(), stack.duration_s);
    }
    let bytes = serde_json::to_vec(&durations).unwrap_or_default();
    // The next run only starts in another order.
    let _ = atomic_file::write(&path(runs_dir), &bytes);
}

/// Lets a stack that was renamed have the durations it had.
pub fn rename_durations(runs_dir: &Path, old: &StackId, new: &StackId) {
    let mut durations = read(runs_dir);
    let mut changed = false;
    for known in durations.values_mut() {
        if let Some(seconds) = known.remove(old) {
            known.insert(new.clone(), seconds);
            changed = true;
        }
    }
    if changed {
        let _ = atomic_file::write(&path(runs_dir), &serde_json::to_vec(&durations).unwrap_or_default());
    }
}

fn read(runs_dir: &Path) -> Durations {
    let bytes = std::fs::read(path(runs_dir)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn path(runs_dir: &Path) -> PathBuf {
    runs_dir.with_file_name("durations.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackReport;

    #[test]
    fn what_one_run_learnt_the_next_knows_for_the_same_command() {
        let dir = tempfile::tempdir().expect("a folder");
        let runs_dir = dir.path().join("runs");
        let stack = |id: &str, result, duration_s| StackReport {
            duration_s,
            ..StackReport::new(StackId::new(id), result)
        };
        let stacks = vec![stack("a", StackResult::Succeeded, 3.5), stack("b", StackResult::Skipped, 0.0)];
        let report = RunReport {
            run_id: "1".to_owned(),
            command: RunCommand::Plan,
            started: jiff::Timestamp::UNIX_EPOCH,
            duration_s: 4.0,
            exit_code: 0,
            stacks,
        };

        keep_durations(&runs_dir, &report);

        let known = BTreeMap::from([(StackId::new("a"), 3.5)]);
        assert_eq!(read_durations(&runs_dir, RunCommand::Plan), known);
        assert!(read_durations(&runs_dir, RunCommand::Apply).is_empty());
    }
}
