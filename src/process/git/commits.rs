//! Which commit is checked out, what it was made from, and what another one holds.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::{Git, is_commit, parts};
use crate::process::Invocation;

/// What a commit holds in some places is not larger.
const LARGEST: u64 = 64 << 20;

impl Git {
    /// Returns the commit that is checked out, and its parents behind it; a clone may lack those.
    pub async fn commit_with_parents(&self) -> Option<Vec<String>> {
        let call = self.call(&[], "rev-list").args(["--parents", "--max-count=1", "HEAD", "--"]);
        let answer = self.ask(call).await?;
        let commits: Vec<String> =
            str::from_utf8(&answer).ok()?.split_whitespace().map(str::to_owned).collect();
        (!commits.is_empty() && commits.iter().all(|text| is_commit(text))).then_some(commits)
    }

    /// Returns where the history of a branch and of what is checked out parted; `name` is that of a ref.
    pub async fn parted_from(&self, name: &str) -> Option<String> {
        let call = self.call(&[], "merge-base").args(["HEAD", name]);
        let answer = self.ask(call).await?;
        let commit = str::from_utf8(&answer).ok()?.trim().to_owned();
        is_commit(&commit).then_some(commit)
    }

    /// Returns the files that a commit has in some places below the folder, and what they hold; of what is
    /// no plain file, nothing.
    pub async fn files_at(&self, commit: &str, places: &[PathBuf]) -> Option<Vec<(PathBuf, Vec<u8>)>> {
        let call = self.call(&[], "ls-tree").args(["-r", "-z", "--name-only", commit, "--"]);
        let call = places.iter().fold(call, |call, place| call.arg(self.place(place)));
        let listed = self.ask(call).await.filter(|_| is_commit(commit))?;
        let listed: Vec<&Path> = parts(&listed).map(|path| Path::new(OsStr::from_bytes(path))).collect();
        let there = places.iter().map(|place| self.place(place));
        let there: Vec<PathBuf> =
            there.filter(|place| listed.iter().any(|file| file.starts_with(place))).collect();
        if there.is_empty() {
            return Some(Vec::new());
        }
        // Content goes through the filters that attributes name, unless they are switched off.
        let call = self.call(&self.filter_settings().await?, "archive").args(["--format=tar", commit, "--"]);
        let archive = self.ask(there.into_iter().fold(call, Invocation::arg)).await?;
        self.unpacked(&archive)
    }

    fn unpacked(&self, archive: &[u8]) -> Option<Vec<(PathBuf, Vec<u8>)>> {
        let mut files = Vec::new();
        for entry in tar::Archive::new(archive).entries().ok()? {
            let mut entry = entry.ok()?;
            if !entry.header().entry_type().is_file() || entry.size() > LARGEST {
                continue;
            }
            let path = entry.path().ok()?.into_owned();
            let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
            let below = path.strip_prefix(&self.below).ok().filter(|_| is_plain).map(Path::to_owned);
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).ok()?;
            files.extend(below.map(|path| (path, bytes)));
        }
        Some(files)
    }
}
