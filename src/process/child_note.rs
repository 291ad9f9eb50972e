//! A note on disk about a child that is at work, for those who come after this process was
//! killed: a file named after the child's process id, which is there as long as the child is
//! waited for.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::liveness::{is_alive, started_at, this_process};

/// What a note tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChildNote {
    /// The process id of the child.
    pub pid: u32,
    /// The process that started it.
    pub parent: u32,
    /// When it was written: right after the child began.
    pub since: Timestamp,
    started: Option<u64>,
    path: PathBuf,
}

impl ChildNote {
    /// Returns the notes in a folder.
    pub fn read_all(dir: &Path) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        entries.flatten().filter_map(|entry| Self::read(entry.path())).collect()
    }

    fn read(path: PathBuf) -> Option<Self> {
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        let text = std::fs::read_to_string(&path).ok()?;
        let mut words = text.split_whitespace();
        let parent = words.next()?.parse().ok()?;
        let started = words.next().and_then(|word| word.parse().ok());
        let since = Timestamp::try_from(std::fs::metadata(&path).ok()?.modified().ok()?).ok()?;
        Some(Self { pid, parent, since, started, path })
    }

    /// Returns whether the child is still there.
    pub fn is_alive(&self) -> bool {
        is_alive(self.pid, self.started)
    }

    /// Removes the note.
    pub fn remove(&self) {
        // Somebody else may have removed it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes its note when it is dropped.
#[derive(Debug)]
pub(super) struct Noted(PathBuf);

impl Noted {
    /// Notes a child; without a note things are as they would be without this program.
    pub fn down(dir: &Path, pid: u32) -> Option<Self> {
        let started = started_at(pid).map(|ticks| ticks.to_string()).unwrap_or_default();
        let path = dir.join(pid.to_string());
        std::fs::create_dir_all(dir).ok()?;
        // One that is read half-written says too little, and is passed over.
        std::fs::write(&path, format!("{} {started}\n", this_process())).ok()?;
        Some(Self(path))
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_there_as_long_as_it_is_held() {
        let dir = tempfile::tempdir().expect("a folder");

        let noted = Noted::down(dir.path(), this_process()).expect("a note");

        let notes = ChildNote::read_all(dir.path());
        assert_eq!((notes.len(), notes[0].pid, notes[0].parent), (1, this_process(), this_process()));
        assert!(notes[0].is_alive());
        drop(noted);
        assert_eq!(ChildNote::read_all(dir.path()), []);
    }

    #[test]
    fn what_is_no_note_is_passed_over() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("x"), "1 2").expect("a file");
        std::fs::write(dir.path().join("12"), "").expect("a file");

        assert_eq!(ChildNote::read_all(dir.path()), []);
        assert_eq!(ChildNote::read_all(&dir.path().join("none")), []);
    }
}
