//! Earlier runs, as their records below `.infra/runs` tell: which there were, how they
//! ended, what they left undone.
//!
//! A run that was killed has no report; what it finished stands in its events.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::run_record::{Begun, EVENTS, REPORT, begun_in};
use crate::model::{Holder, RunCommand, RunReport, StackId, StackResult};

/// A run of the past, or one that still goes on.
#[derive(Clone, Debug)]
pub struct PastRun {
    /// Its id, which sorts by time.
    pub run_id: String,
    /// What was done.
    pub command: RunCommand,
    /// The process that did it.
    pub process: Holder,
    /// Its report, unless it was killed or is not over.
    pub report: Option<RunReport>,
    dir: PathBuf,
}

impl PastRun {
    /// Returns all recorded runs, the newest first.
    pub fn all(runs_dir: &Path) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(runs_dir) else { return Vec::new() };
        let mut dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        dirs.sort();
        dirs.into_iter().rev().filter_map(Self::read).collect()
    }

    /// Returns the newest run of a command that is over.
    ///
    /// `is_alive` tells whether a process still lives.
    pub fn last(runs_dir: &Path, command: RunCommand, is_alive: impl Fn(&Holder) -> bool) -> Option<Self> {
        let over = |run: &Self| run.report.is_some() || !is_alive(&run.process);
        Self::all(runs_dir).into_iter().find(|run| run.command == command && over(run))
    }

    fn read(dir: PathBuf) -> Option<Self> {
        let Begun { command, process } = begun_in(&dir)?;
        let report = std::fs::read(dir.join(REPORT)).ok();
        let report = report.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let run_id = dir.file_name()?.to_str()?.to_owned();
        Some(Self { run_id, command, process, report, dir })
    }

    /// Returns the stacks that did not come to a good end.
    pub fn left_undone(&self) -> BTreeSet<StackId> {
        match &self.report {
            Some(report) => {
                let undone = report.stacks.iter().filter(|stack| !is_good(stack.result));
                undone.map(|stack| stack.id.clone()).collect()
            }
            None => self.left_undone_by_events(),
        }
    }

    fn left_undone_by_events(&self) -> BTreeSet<StackId> {
        let text = std::fs::read_to_string(self.dir.join(EVENTS)).unwrap_or_default();
        let mut open = BTreeSet::new();
        for event in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match event["type"].as_str() {
                Some("run_started") => {
                    let ids = event["stacks"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    open.extend(ids.map(StackId::new));
                }
                Some("stack_finished")
                    if matches!(event["report"]["result"].as_str(), Some("succeeded" | "no_changes")) =>
                {
                    open.remove(&StackId::new(event["report"]["id"].as_str().unwrap_or_default()));
                }
                _ => {}
            }
        }
        open
    }
}

const fn is_good(result: StackResult) -> bool {
    matches!(result, StackResult::Succeeded | StackResult::NoChanges)
}
