//! A note on disk about a child that is at work, for those who come after this process was
//! killed: a line in a file, which is there as long as the child is waited for.
//!
//! The file stays, empty, when nobody is at work: making and removing one for every child
//! costs more than everything else that is done for it. Two processes that write at the same
//! moment may lose a line; without a note things are as they would be without this program.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::liveness::{is_alive_in, started_at, this_place, this_process};
use crate::model::ProcessPlace;

/// What a note tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChildNote {
    /// The process id of the child.
    pub pid: u32,
    /// The process that started it.
    pub parent: u32,
    /// When it was started.
    pub since: Timestamp,
    started: Option<u64>,
    /// Where the process ids mean something; unknown in notes of earlier versions.
    place: Option<ProcessPlace>,
}

impl ChildNote {
    /// Returns the notes in a file.
    pub fn read_all(file: &Path) -> Vec<Self> {
        std::fs::read_to_string(file).unwrap_or_default().lines().filter_map(Self::read).collect()
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let [pid, parent, since, started] = [words.next()?, words.next()?, words.next()?, words.next()?];
        Some(Self {
            pid: pid.parse().ok()?,
            parent: parent.parse().ok()?,
            since: since.parse().ok()?,
            started: started.parse().ok(),
            place: words.next().and_then(|place| serde_json::from_str(place).ok()),
        })
    }

    /// Returns whether the child is still there; `None` if that cannot be told from here.
    pub fn is_alive(&self) -> Option<bool> {
        is_alive_in(self.place.as_ref(), self.pid, self.started)
    }

    /// Removes the notes in a file about children that are gone.
    pub fn forget_ended_children(file: &Path) {
        let dead: Vec<Self> =
            Self::read_all(file).into_iter().filter(|note| note.is_alive() == Some(false)).collect();
        if !dead.is_empty() {
            keep_lines(file, |note| !dead.contains(note));
        }
    }
}

fn keep_lines(file: &Path, keep: impl Fn(&ChildNote) -> bool) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let kept = text.lines().filter(|line| ChildNote::read(line).is_some_and(|note| keep(&note)));
    let kept: String = kept.flat_map(|line| [line, "\n"]).collect();
    let _ = OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)
        .and_then(|mut file| file.write_all(kept.as_bytes()));
}

/// Removes its note when it is dropped.
#[derive(Debug)]
pub(super) struct NoteGuard {
    file: PathBuf,
    line: String,
}

impl NoteGuard {
    /// Notes a child that was started then, in a file whose folder is there.
    pub fn down(file: &Path, since: Timestamp, pid: u32) -> Option<Self> {
        let started = started_at(pid).map_or_else(|| "-".to_owned(), |ticks| ticks.to_string());
        let place = this_place().and_then(|place| serde_json::to_string(&place).ok()).unwrap_or_default();
        let line = format!("{pid} {} {since} {started} {place}\n", this_process());
        let opened = OpenOptions::new().append(true).create(true).open(file);
        opened.ok()?.write_all(line.as_bytes()).ok()?;
        Some(Self { file: file.to_owned(), line })
    }
}

impl Drop for NoteGuard {
    fn drop(&mut self) {
        let own = ChildNote::read(self.line.trim_end());
        keep_lines(&self.file, |note| Some(note) != own.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_there_as_long_as_it_is_held() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("x");

        let noted = NoteGuard::down(&file, Timestamp::UNIX_EPOCH, this_process()).expect("a note");
        let gone = NoteGuard::down(&file, Timestamp::UNIX_EPOCH, u32::MAX).expect("a note");

        let notes = ChildNote::read_all(&file);
        assert_eq!((notes.len(), notes[0].pid, notes[0].parent), (2, this_process(), this_process()));
        assert_eq!((notes[0].is_alive(), notes[1].is_alive()), (Some(true), Some(false)));
        ChildNote::forget_ended_children(&file);
        assert_eq!(ChildNote::read_all(&file), notes[..1]);
        drop(noted);
        drop(gone);
        assert_eq!(std::fs::read_to_string(file).expect("the file"), "");
    }

    #[test]
    fn a_note_from_another_container_is_neither_judged_nor_forgotten() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("x");
        let place = r#"{"boot":"another","namespace":"pid:[1]"}"#;
        let line = format!("{} 1 1970-01-01T00:00:00Z 5 {place}\n", u32::MAX);
        std::fs::write(&file, &line).expect("a file");

        let own = NoteGuard::down(&file, Timestamp::UNIX_EPOCH, this_process()).expect("a note");
        ChildNote::forget_ended_children(&file);
        drop(own);

        assert_eq!(ChildNote::read_all(&file)[0].is_alive(), None);
        assert_eq!(std::fs::read_to_string(file).expect("the file"), line);
    }

    #[test]
    fn what_is_no_note_is_passed_over() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("x");
        std::fs::write(&file, "1 2\n\nwords\n1 2 then 4\n").expect("a file");

        assert_eq!(ChildNote::read_all(&file), []);
        assert_eq!(ChildNote::read_all(&dir.path().join("none")), []);
    }
}
