//! Which processes there are, as `/proc` tells: those of a folder, and those of another process.
//!
//! One that has ended and was not waited for counts as gone.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A process that was seen.
#[derive(Clone, Debug)]
pub struct Process {
    pub pid: i32,
    /// Where it works, where that can be read.
    pub dir: Option<PathBuf>,
    pub words: Vec<String>,
    parent: i32,
    /// Tells it from a later one with the same id.
    started: u64,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
        // The name before the last parenthesis may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let words = std::fs::read(folder.join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).split_terminator('\0').map(str::to_owned).collect();
        let dir = std::fs::read_link(folder.join("cwd")).ok();
        let (parent, started) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        (*fields.first()? != "Z").then_some(Self { pid, dir, words, parent, started })
    }

    /// Returns whether this very process is still there.
    pub fn lives(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.started == self.started)
    }

    /// Returns whether the program has this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.words.first().is_some_and(|program| Path::new(program).ends_with(name))
    }

    fn is_about(&self, folder: &Path) -> bool {
        let text = folder.to_string_lossy();
        self.dir.as_ref().is_some_and(|dir| dir.starts_with(folder))
            || self.words.iter().any(|word| word.contains(text.as_ref()))
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dir = self.dir.as_deref().unwrap_or(Path::new("?"));
        write!(f, "{} in {}: {}", self.pid, dir.display(), self.words.join(" "))
    }
}

/// Returns the processes that work in a folder, or name it in their arguments.
pub fn about(folder: &Path) -> Vec<Process> {
    all().into_iter().filter(|process| process.is_about(folder)).collect()
}

/// Returns what a process started, and what that started.
pub fn started_by(pid: i32) -> Vec<Process> {
    let mut open = all();
    let (mut known, mut found) = (BTreeSet::from([pid]), Vec::new());
    loop {
        let (children, others): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|process| known.contains(&process.parent));
        if children.is_empty() {
            return found;
        }
        known.extend(children.iter().map(|process| process.pid));
        found.extend(children);
        open = others;
    }
}

fn all() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").expect("a system with /proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::read).collect()
}
