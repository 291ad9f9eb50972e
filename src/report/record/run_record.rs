//! The record of a run below `.infra/runs/<id>/`: what was begun, every event, a log for
//! each stack, and the report at the end.
//!
//! A record without a report whose process is gone is a run that died; the next run
//! says so once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::durations::keep_durations;
use super::file_names::{ABANDONED, BEGUN, EVENTS, RENDERED, REPORT};
use super::renamed_runs::rename_in_runs;
use crate::atomic_file;
use crate::error::{Result, io};
use crate::events::{NumberedEvent, RunEvent};
use crate::model::{Holder, PlanMode, RunCommand, RunOrigin, RunReport, StackId};
use crate::report::listen::Report;

/// How many records are kept.
const KEPT: usize = 100;

/// What is written before anything runs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Begun {
    /// What is done.
    pub command: RunCommand,
    /// What plans are for.
    #[serde(default)]
    pub mode: PlanMode,
    /// Whether it is about stacks that are gone from the tree.
    #[serde(default)]
    pub removed: bool,
    /// The project's name; earlier versions did not note it.
    #[serde(default)]
    pub project: Option<String>,
    /// What it is made from, where that was looked up.
    #[serde(default)]
    pub origin: RunOrigin,
    /// The process that does it.
    pub process: Holder,
}

/// Returns what a record says was begun.
pub fn begun_in(dir: &Path) -> Option<Begun> {
    serde_json::from_slice(&std::fs::read(dir.join(BEGUN)).ok()?).ok()
}

/// A run that ended without a report.
#[derive(Clone, Debug)]
pub struct Unfinished {
    /// Its id.
    pub run_id: String,
    /// What it was doing.
    pub command: RunCommand,
    /// The process that was doing it.
    pub process: Holder,
}

/// Writes the record of a run.
#[derive(Debug)]
pub struct RunRecord {
    dir: PathBuf,
    events: BufWriter<File>,
    logs: BTreeMap<StackId, BufWriter<File>>,
}

impl RunRecord {
    /// Begins a record.
    pub fn begin(runs_dir: &Path, run_id: &str, begun: &Begun) -> Result<Self> {
        let dir = runs_dir.join(run_id);
        let begun = serde_json::to_vec_pretty(begun).unwrap_or_default();
        atomic_file::write(&dir.join(BEGUN), &begun)?;
        let path = dir.join(EVENTS);
        let events = File::options().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let events = events.map_err(io("write", &path))?;
        Ok(Self { dir, events: BufWriter::new(events), logs: BTreeMap::new() })
    }

    fn log(&mut self, stack: &StackId, text: &str) {
        let dir = &self.dir;
        let file = match self.logs.entry(stack.clone()) {
            std::collections::btree_map::Entry::Occupied(file) => file.into_mut(),
            std::collections::btree_map::Entry::Vacant(place) => match open_log(dir, stack) {
                Ok(file) => place.insert(file),
                Err(_) => return,
            },
        };
        let _ = writeln!(file, "{text}");
    }

    /// Adds what a change of data or templates did to the rendered files.
    pub fn add_rendered(&self, diff: &str) -> Result<()> {
        atomic_file::write(&self.dir.join(RENDERED), diff.as_bytes())
    }

    /// Ends the record.
    pub fn finish(&self, report: &RunReport) {
        let bytes = serde_json::to_vec_pretty(report).unwrap_or_default();
        let _ = atomic_file::write(&self.dir.join(REPORT), &bytes);
        if let Some(runs_dir) = self.dir.parent().filter(|_| report.stacks.len() > 1) {
            keep_durations(runs_dir, report);
        }
        prune(self.dir.parent());
    }
}

/// A record that cannot be written must not stop the run it is about, so failures are passed over here.
impl Report for RunRecord {
    fn event(&mut self, numbered: &NumberedEvent) {
        let event = &numbered.event;
        // Nothing of it is kept, and there may be thousands.
        if matches!(event, RunEvent::Refreshed { .. }) {
            return;
        }
        if let Ok(line) = serde_json::to_string(numbered) {
            let _ = writeln!(self.events, "{line}");
        }
        // Lines come in crowds; whatever changes the picture is on the disk at once.
        if !matches!(event, RunEvent::Line { .. } | RunEvent::Resource { .. }) {
            let _ = self.events.flush();
        }
        match event {
            RunEvent::Line { stack, text, .. } => self.log(stack, text),
            RunEvent::StepStarted { stack, step } => self.log(stack, &format!("==> {}", step.doing())),
            // A log is open only while its stack runs: there may be more stacks than open files.
            RunEvent::Planned { stack, .. } => drop(self.logs.remove(stack)),
            RunEvent::StackFinished { report } => drop(self.logs.remove(&report.id)),
            RunEvent::RunFinished { report } => self.finish(report),
            RunEvent::Diagnostic { stack, .. } => {
                self.logs.get_mut(stack).map(Write::flush);
            }
            RunEvent::StateRenamed { stack, was } => {
                self.dir.parent().into_iter().for_each(|runs| rename_in_runs(runs, was, stack));
            }
            RunEvent::Interrupted { .. } => self.logs.values_mut().for_each(|log| drop(log.flush())),
            RunEvent::LockAwaited { stack, .. } => self.log(stack, "==> waiting for the lock"),
            RunEvent::RunStarted { .. }
            | RunEvent::LockTaken { .. }
            | RunEvent::Warning { .. }
            | RunEvent::PlanDiffers { .. }
            | RunEvent::StatesNoted { .. }
            | RunEvent::NothingDone
            | RunEvent::Resource { .. }
            | RunEvent::Refreshed { .. } => {}
        }
    }
}

impl Unfinished {
    /// Finds runs that ended without a report; each is found once.
    ///
    /// `is_alive` tells whether a process still lives; one on another host counts as living.
    pub fn take_all(runs_dir: &Path, is_alive: impl Fn(&Holder) -> bool) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(runs_dir) else { return Vec::new() };
        let mut runs: Vec<Self> = entries.flatten().filter_map(|entry| unfinished(&entry.path())).collect();
        runs.retain(|run| !is_alive(&run.process));
        runs.sort_by(|a, b| a.run_id.cmp(&b.run_id));
        for run in &runs {
            let dir = runs_dir.join(&run.run_id);
            let _ = std::fs::write(dir.join(ABANDONED), "");
            // Plans may hold sensitive values, and nobody can apply these any more.
            let _ = std::fs::remove_dir_all(dir.join("plans"));
        }
        runs
    }
}

fn unfinished(dir: &Path) -> Option<Unfinished> {
    if dir.join(REPORT).exists() || dir.join(ABANDONED).exists() {
        return None;
    }
    let begun = begun_in(dir)?;
    let run_id = dir.file_name()?.to_str()?.to_owned();
    Some(Unfinished { run_id, command: begun.command, process: begun.process })
}

/// Removes the oldest records; how long they are of use is a matter of how often one runs.
fn prune(runs_dir: Option<&Path>) {
    let Some(Ok(entries)) = runs_dir.map(std::fs::read_dir) else { return };
    let mut runs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    runs.sort();
    for old in runs.iter().rev().skip(KEPT).filter(|run| run.join(REPORT).exists()) {
        let _ = std::fs::remove_dir_all(old);
    }
}

fn open_log(dir: &Path, stack: &StackId) -> Result<BufWriter<File>> {
    let path = dir.join("logs").join(format!("{}.log", stack.state_name()));
    atomic_file::create_private_dir(path.parent().unwrap_or(dir))?;
    // What tofu prints may tell more than others should know.
    let file = File::options().append(true).create(true).mode(0o600).open(&path);
    file.map(BufWriter::new).map_err(io("write", &path))
}
