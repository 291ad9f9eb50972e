//! Earlier runs, as their records below `.infra/runs` tell: which there were, how they
//! ended, what they left undone.
//!
//! A run that was killed has no report; what it finished stands in its events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file_names::{EVENTS, REPORT};
use super::run_record::{Begun, begun_in};
use crate::model::{Holder, PlanMode, RunCommand, RunReport, StackId, StackResult};

/// A run of the past, or one that still goes on.
#[derive(Clone, Debug)]
pub struct PastRun {
    /// Its id, which sorts by time.
    pub run_id: String,
    /// What was done.
    pub command: RunCommand,
    /// What its plans were for.
    pub mode: PlanMode,
    /// Whether it was about stacks that are gone from the tree.
    pub removed: bool,
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

    /// Returns the runs of a command that are over, the newest first.
    ///
    /// `is_alive` tells whether a process still lives.
    pub fn all_over(runs_dir: &Path, command: RunCommand, is_alive: impl Fn(&Holder) -> bool) -> Vec<Self> {
        let over = |run: &Self| run.report.is_some() || !is_alive(&run.process);
        Self::all(runs_dir).into_iter().filter(|run| run.command == command && over(run)).collect()
    }

    fn read(dir: PathBuf) -> Option<Self> {
        let Begun { command, mode, removed, process, .. } = begun_in(&dir)?;
        let report = std::fs::read(dir.join(REPORT)).ok();
        let report = report.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let run_id = dir.file_name()?.to_str()?.to_owned();
        Some(Self { run_id, command, mode, removed, process, report, dir })
    }

    /// Returns the stacks that did not come to a good end.
    pub fn left_undone(&self) -> BTreeSet<StackId> {
        self.ends().into_iter().filter(|(_, good)| !good).map(|(id, _)| id).collect()
    }

    /// Returns the stacks it had, each with whether it came to a good end.
    fn ends(&self) -> BTreeMap<StackId, bool> {
        match &self.report {
            Some(report) => {
                report.stacks.iter().map(|stack| (stack.id.clone(), is_good(stack.result))).collect()
            }
            None => self.ends_by_events(),
        }
    }

    fn ends_by_events(&self) -> BTreeMap<StackId, bool> {
        let text = std::fs::read_to_string(self.dir.join(EVENTS)).unwrap_or_default();
        let mut ends = BTreeMap::new();
        for event in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match event["type"].as_str() {
                Some("run_started") => {
                    let ids = event["stacks"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    ends.extend(ids.map(|id| (StackId::new(id), false)));
                }
                Some("stack_finished")
                    if matches!(event["report"]["result"].as_str(), Some("succeeded" | "no_changes")) =>
                {
                    ends.insert(StackId::new(event["report"]["id"].as_str().unwrap_or_default()), true);
                }
                _ => {}
            }
        }
        ends
    }
}

/// What one run left undone and no newer one took up.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The run.
    pub run: PastRun,
    /// Its stacks that no newer run had.
    pub stacks: BTreeSet<StackId>,
}

/// Returns what is still undone, the newest run first: of each stack, the newest run that had it counts.
pub fn left_undone(newest_first: Vec<PastRun>) -> Vec<Undone> {
    let mut seen = BTreeSet::new();
    let mut left = Vec::new();
    for run in newest_first {
        let mut stacks = BTreeSet::new();
        for (id, good) in run.ends() {
            if seen.insert(id.clone()) && !good {
                stacks.insert(id);
            }
        }
        if !stacks.is_empty() {
            left.push(Undone { run, stacks });
        }
    }
    left
}

const fn is_good(result: StackResult) -> bool {
    matches!(result, StackResult::Succeeded | StackResult::NoChanges)
}
