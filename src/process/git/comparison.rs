//! How the working tree differs from a commit, whatever the settings of whoever asks.
//!
//! `git diff` is asked, not its plumbing: it alone compares the content of a file whose time was
//! touched. A move is a removal and an addition, a mode is a part of a file. What a user's settings
//! would change is said in every question. However much there is, each question is one process.
//! Begin at [`Git::differences`] and [`Git::untracked`].

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Git, parts};
use crate::error::{Error, Result};
use crate::process::Invocation;

/// What no setting may decide: what is compared, and in which order it is told.
const PLAIN: [&str; 10] = [
    "--raw",
    "-z",
    "--no-abbrev",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-O/dev/null",
    // The new commit of a submodule counts. A look into it would be a git of its own.
    "--ignore-submodules=dirty",
    "--ita-visible-in-index",
];

/// A path that is not as it was in a commit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// Where it is, below the folder with `.git`.
    pub path: PathBuf,
    /// What the commit has there.
    pub before: Option<RecordedFile>,
    /// What is there now.
    pub now: Option<FileKind>,
}

/// What a commit has at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecordedFile {
    /// What it is.
    pub kind: FileKind,
    /// The id of its content.
    pub id: String,
}

/// What a path is to git.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// A file.
    Plain,
    /// A file that may be run.
    Executable,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl Git {
    /// Returns every tracked path whose content, kind or mode is not as in a commit.
    pub async fn differences(&self, commit: &str) -> Result<Vec<Difference>> {
        let mut settings = self.safe_settings().await?;
        settings.extend(["diff.autoRefreshIndex=true", "diff.relative=false"].map(Into::into));
        // A disk without modes shows one for every file: only there git is right not to look.
        settings.push(format!("core.fileMode={}", self.keeps_modes()).into());
        let call = self.call(&settings, "diff").args(PLAIN).arg(commit).arg("--");
        Ok(differences(&self.answer(call).await?))
    }

    /// Returns the files that git neither knows nor ignores; a repository of its own ends with a slash.
    pub async fn untracked(&self) -> Result<Vec<PathBuf>> {
        let options = ["-z", "--others", "--exclude-standard"];
        let answer = self.answer(self.call(&[], "ls-files").args(options)).await?;
        Ok(parts(&answer).map(path_of).collect())
    }

    /// Returns which of these files, new since a commit, patterns of that commit would have ignored.
    pub async fn matching(&self, patterns: &[String], files: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let call = self.call(&[], "ls-files").args(["-z", "--cached", "--others", "--ignored"]);
        let call = call.args(patterns.iter().map(|pattern| format!("--exclude={pattern}")));
        let answer = self.answer(call.arg("--").args(files)).await?;
        Ok(parts(&answer).map(path_of).collect())
    }

    /// Returns settings that switch every content filter off; without them nothing is compared.
    async fn safe_settings(&self) -> Result<Vec<std::ffi::OsString>> {
        let unclear = || Error::unavailable("git does not say which filters its settings name");
        match self.filter_settings().await {
            Some(settings) => Ok(settings),
            // Asked once more for the reason: that git is missing, or distrusts the repository.
            None => self.answer(self.call(&[], "rev-parse").arg("HEAD")).await.and(Err(unclear())),
        }
    }

    /// Returns whether the disk keeps the modes of files, as far as a file of git's own tells.
    fn keeps_modes(&self) -> bool {
        let git = self.top.join(".git");
        let file = if git.is_dir() { git.join("HEAD") } else { git };
        std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 == 0)
    }
}

/// Reads `:MODE MODE ID ID LETTER`, a zero byte and the path, over and over.
fn differences(answer: &[u8]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    let mut parts = parts(answer);
    while let Some((entry, path)) = parts.next().zip(parts.next()) {
        let Some((before, now, letter)) = fields(entry) else { continue };
        // A conflict is told once as such, without modes, and once as a change if it is one.
        let now = if letter == b'U' { Some(FileKind::Plain) } else { now };
        found.push(Difference { path: path_of(path), before, now });
    }
    found
}

fn fields(entry: &[u8]) -> Option<(Option<RecordedFile>, Option<FileKind>, u8)> {
    let text = str::from_utf8(entry.strip_prefix(b":")?).ok()?;
    let mut fields = text.split(' ');
    let (old_mode, new_mode, id) = (fields.next()?, fields.next()?, fields.next()?.to_owned());
    let letter = *fields.nth(1)?.as_bytes().first()?;
    let before = kind_of(old_mode).map(|kind| RecordedFile { kind, id });
    Some((before, kind_of(new_mode), letter))
}

/// Returns what a mode says; none where nothing is.
fn kind_of(mode: &str) -> Option<FileKind> {
    match mode {
        "000000" => None,
        "120000" => Some(FileKind::Link),
        "160000" => Some(FileKind::Submodule),
        "100755" => Some(FileKind::Executable),
        _ => Some(FileKind::Plain),
    }
}

fn path_of(bytes: &[u8]) -> PathBuf {
    Path::new(OsStr::from_bytes(bytes)).to_owned()
}

/// Begins a question that reads names from its standard input.
pub(super) fn with_lines(call: Invocation, lines: impl Iterator<Item = String>) -> Invocation {
    call.input(lines.flat_map(|line| [line, "\n".to_owned()]).collect::<String>().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_links_and_submodules_are_told_apart() {
        let answer =
            b":100644 100755 aa 00 M\0a/-o\tpt\0:120000 000000 bb 00 D\0l\n\0:160000 160000 c d M\0m\0";

        let found = differences(answer);

        assert_eq!(found[0].path, Path::new("a/-o\tpt"));
        assert_eq!((found[0].before.clone().map(|file| file.id), found[0].now), {
            (Some("aa".to_owned()), Some(FileKind::Executable))
        });
        assert_eq!(
            (found[1].before.clone().map(|file| file.kind), found[1].now),
            (Some(FileKind::Link), None)
        );
        assert_eq!((found[1].path.as_path(), found[2].now), (Path::new("l\n"), Some(FileKind::Submodule)));
    }
}
