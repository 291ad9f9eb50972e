//! Which files git calls renamed: in the commits of late, in the index, in the working tree.
//!
//! Rename detection looks at OpenTofu files only, at all of the asked folder at once: a restriction
//! to the old place would hide the new one, and thousands of other files in a commit would reach
//! git's limit, beyond which it compares no contents. History is followed along first parents, a
//! merge by what it brought, so that a file is followed over several renames.
//!
//! git compares the working tree with nothing that it does not track, and a folder that was moved
//! without git is not tracked. There a file counts as renamed if its content is the same, byte for
//! byte; one that was edited as well is not recognised before it is added.
//!
//! `git log` is asked because no plumbing command follows history in one process. What its settings
//! would run, programs that check signatures and drivers that merge again, is switched off.
//!
//! However many folders are asked about, at most eight processes run. Begin at [`Git::renames`].

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use super::{Git, Paths, is_commit, parts};
use crate::model::{TOFU_ENDINGS, is_tofu_file};
use crate::process::Invocation;

/// How far back a rename is looked for, in commits along first parents.
const COMMITS: usize = 5_000;

/// How many files outside of git are looked into.
const UNTRACKED: usize = 1_000;

/// What no setting of a repository may decide: the order of answers, and what is compared.
const PLAIN: [&str; 4] = ["-O/dev/null", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

/// What is asked about renames, and how many files are compared at most.
const DETECTION: [&str; 5] = ["-z", "-l1000", "--no-rename-empty", "--diff-filter=DR", "--name-status"];

/// From a path to where its file went at one time; to nowhere where it was removed.
type Step = BTreeMap<PathBuf, Vec<PathBuf>>;

/// A file of the commit that is not in the working tree any more.
struct Missing {
    path: PathBuf,
    id: String,
    size: u64,
}

impl Git {
    /// Returns the files below these folders that were renamed, with where they are now.
    ///
    /// None where there is no commit, or git cannot be asked. What a shallow clone lacks is not known.
    pub async fn renames(&self, gone: &[PathBuf]) -> Option<Vec<(PathBuf, PathBuf)>> {
        let gone: Vec<&Path> = gone.iter().filter_map(|folder| plain(folder)).collect();
        if gone.is_empty() {
            return Some(Vec::new());
        }
        let staged = self.staged_renames().await?;
        let mut steps = self.committed_renames(&gone).await.unwrap_or_default();
        steps.extend(staged);
        steps.push(self.untracked_renames(&gone).await.unwrap_or_default());
        Some(followed(&steps, &gone))
    }

    /// Returns what differs between the commit and the index.
    async fn staged_renames(&self) -> Option<Vec<Step>> {
        let call = self.call_about(Paths::Patterns, &[], "diff-index");
        let call = call.args(["--cached", "-M50%"]).args(PLAIN).args(DETECTION).args(["HEAD", "--"]);
        Some(self.steps(&self.ask(call.args(self.tofu_files(Path::new("")))).await?))
    }

    /// Returns what commits did since the first that removed one of these files, the oldest first.
    async fn committed_renames(&self, gone: &[&Path]) -> Option<Vec<Step>> {
        let Some(start) = self.first_removal(gone).await? else { return Some(Vec::new()) };
        // A clone may lack old contents. Equal ones are known without them.
        for alike in ["-M50%", "-M100%"] {
            let call = self.history(Some(&format!("{start}^1"))).arg(alike).args(DETECTION);
            if let Some(answer) = self.ask(call.arg("--").args(self.tofu_files(Path::new("")))).await {
                let mut steps = self.steps(&answer);
                steps.reverse();
                return Some(steps);
            }
        }
        None
    }

    /// Returns the oldest of the last commits that removed a file below these folders: to look for
    /// removals in a few places is much faster than to look for renames everywhere.
    async fn first_removal(&self, gone: &[&Path]) -> Option<Option<String>> {
        let skip = format!("--skip={COMMITS}");
        let call = self.call(&[], "rev-list").args(["--first-parent", "--max-count=1", &skip, "HEAD"]);
        let limit = commits(&self.ask(call).await?).pop();
        let call = self.history(limit.as_deref()).args(["--no-renames", "--diff-filter=D", "--"]);
        let answer = self.ask(call.args(gone.iter().flat_map(|folder| self.tofu_files(folder)))).await?;
        Some(commits(&answer).pop())
    }

    /// Begins a question about the commits behind one, or all.
    fn history(&self, behind: Option<&str>) -> Invocation {
        // `-m` is what this setting says, and one of its values makes merges anew, with drivers.
        let merges = OsString::from("log.diffMerges=separate");
        let call = self.call_about(Paths::Patterns, &[merges], "log");
        let bare = ["--no-show-signature", "--no-notes", "--no-use-mailmap", "--no-decorate", "--no-color"];
        let call = call.args(["--first-parent", "-m", "--format=%H"]).args(bare).args(PLAIN);
        call.arg("HEAD").args(behind.map(|commit| format!("^{commit}")))
    }

    /// Returns where files of the commit lie now that were moved without git.
    async fn untracked_renames(&self, gone: &[&Path]) -> Option<Step> {
        let missing = self.missing_files(gone).await?;
        let sizes: BTreeSet<u64> = missing.iter().map(|file| file.size).collect();
        let untracked = if sizes.is_empty() { Vec::new() } else { self.untracked_files(&sizes).await? };
        if untracked.is_empty() {
            return Some(Step::new());
        }
        let call = self.call(&[], "hash-object").args(["--no-filters", "--"]);
        let ids = self.ask(call.args(untracked.iter().map(|path| self.below.join(path)))).await?;
        let ids: Vec<&str> = str::from_utf8(&ids).ok()?.lines().collect();
        let places = |id: &str| {
            let equal = ids.iter().zip(&untracked).filter(|(other, _)| **other == id);
            equal.map(|(_, path)| path.clone()).collect::<Vec<_>>()
        };
        let moved = missing.into_iter().map(|file| (file.path, places(&file.id)));
        Some(moved.filter(|(_, places)| !places.is_empty()).collect())
    }

    /// Returns the OpenTofu files below folders that the commit has and the working tree has not.
    async fn missing_files(&self, gone: &[&Path]) -> Option<Vec<Missing>> {
        let call = self.call(&[], "ls-tree").args(["-r", "-l", "-z", "HEAD", "--"]);
        let answer = self.ask(call.args(gone.iter().map(|folder| self.place(folder)))).await?;
        let files = parts(&answer).filter_map(|entry| self.committed_file(entry));
        Some(files.filter(|file| fs::symlink_metadata(self.absolute(&file.path)).is_err()).collect())
    }

    /// Reads `MODE blob ID SIZE`, a tab and the path.
    fn committed_file(&self, entry: &[u8]) -> Option<Missing> {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        let mut fields = str::from_utf8(&entry[..tab]).ok()?.split_ascii_whitespace().skip(1);
        let (kind, id, size) = (fields.next()?, fields.next()?.to_owned(), fields.next()?.parse().ok()?);
        let path = self.below_folder(&entry[tab + 1..])?;
        let is_tofu = path.file_name()?.to_str().is_some_and(is_tofu_file);
        // Empty files are all alike.
        (kind == "blob" && is_tofu && size > 0).then_some(Missing { path, id, size })
    }

    /// Returns the OpenTofu files of these sizes that git does not know.
    async fn untracked_files(&self, sizes: &BTreeSet<u64>) -> Option<Vec<PathBuf>> {
        let call = self.call_about(Paths::Patterns, &[], "ls-files");
        // The repository's settings may name further lists of ignored files, which may be anything.
        let call = call.args(["--others", "-z", "--exclude-per-directory=.gitignore", "--"]);
        let answer = self.ask(call.args(self.tofu_files(Path::new("")))).await?;
        let paths = parts(&answer).filter_map(|path| self.below_folder(path));
        // A pipe would never end, and a link leads elsewhere.
        let fits = |path: &PathBuf| {
            let found = fs::symlink_metadata(self.absolute(path));
            found.is_ok_and(|found| found.is_file() && sizes.contains(&found.len()))
        };
        Some(paths.filter(fits).take(UNTRACKED).collect())
    }

    /// Returns patterns for the OpenTofu files below a place.
    fn tofu_files(&self, place: &Path) -> impl Iterator<Item = OsString> + use<> {
        let mut pattern = b":(top,glob)".to_vec();
        for part in self.below.join(place).components() {
            for byte in part.as_os_str().as_bytes() {
                pattern.extend(b"*?[]\\".contains(byte).then_some(b'\\'));
                pattern.push(*byte);
            }
            pattern.push(b'/');
        }
        pattern.extend(b"**/*");
        let patterns = TOFU_ENDINGS.iter().map(move |ending| [&pattern, ending.as_bytes()].concat());
        patterns.map(OsString::from_vec)
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.top.join(&self.below).join(path)
    }

    /// Reads, for each commit, what was removed and what was renamed.
    fn steps(&self, answer: &[u8]) -> Vec<Step> {
        let mut steps = vec![Step::new()];
        let mut parts = parts(answer);
        while let Some(part) = parts.next() {
            let status = part.strip_prefix(b"\n").unwrap_or(part);
            let mut path = || parts.next().and_then(|path| self.below_folder(path));
            let (old, new) = match status.first() {
                Some(b'R') => (path(), path()),
                Some(b'D') => (path(), None),
                // The name of a commit.
                _ => {
                    steps.push(Step::new());
                    continue;
                }
            };
            if let (Some(old), Some(step)) = (old, steps.last_mut()) {
                step.insert(old, new.into_iter().collect());
            }
        }
        steps
    }
}

/// Reads the names of commits, a line each.
fn commits(answer: &[u8]) -> Vec<String> {
    let lines = str::from_utf8(answer).unwrap_or_default().lines();
    lines.filter(|line| is_commit(line)).map(str::to_owned).collect()
}

/// Follows the files below these folders from the last time that each went away until now.
fn followed(steps: &[Step], gone: &[&Path]) -> Vec<(PathBuf, PathBuf)> {
    let mut last: BTreeMap<&Path, usize> = BTreeMap::new();
    for (time, step) in steps.iter().enumerate() {
        last.extend(step.keys().map(|path| (path.as_path(), time)));
    }
    last.retain(|path, _| gone.iter().any(|folder| path.starts_with(folder)));
    let mut found = Vec::new();
    for (path, time) in last {
        let mut places = vec![path.to_owned()];
        for step in &steps[time..] {
            let next = |place: PathBuf| step.get(&place).cloned().unwrap_or_else(|| vec![place]);
            places = places.into_iter().flat_map(next).collect();
        }
        found.extend(places.into_iter().filter(|place| place != path).map(|place| (path.to_owned(), place)));
    }
    found
}

/// The asked folder itself is `.` for others, and nothing before the name of a file. git would refuse
/// a whole question for one path that leads out of the repository.
fn plain(folder: &Path) -> Option<&Path> {
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    folder.components().all(|part| matches!(part, Component::Normal(_))).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(renames: &[(&str, &str)]) -> Step {
        let places = |new: &str| Some(PathBuf::from(new)).filter(|_| !new.is_empty()).into_iter().collect();
        renames.iter().map(|(old, new)| (PathBuf::from(old), places(new))).collect()
    }

    fn follow(steps: &[Step], gone: &str) -> Vec<(PathBuf, PathBuf)> {
        followed(steps, &[Path::new(gone)])
    }

    #[test]
    fn a_file_is_followed_over_several_renames() {
        let steps = [step(&[("a/x", "b/x"), ("c/x", "d/x")]), step(&[]), step(&[("b/x", "e/y")])];

        assert_eq!(follow(&steps, "a"), [("a/x".into(), "e/y".into())]);
        assert_eq!(follow(&steps, ""), [("a/x", "e/y"), ("b/x", "e/y"), ("c/x", "d/x")].map(pair));
    }

    fn pair((old, new): (&str, &str)) -> (PathBuf, PathBuf) {
        (old.into(), new.into())
    }

    #[test]
    fn files_that_changed_places_in_one_commit_are_not_confused() {
        let steps = [step(&[("a/x", "b/x"), ("b/x", "a/x")])];

        assert_eq!(follow(&steps, "a"), [pair(("a/x", "b/x"))]);
    }

    #[test]
    fn only_the_last_time_that_a_file_went_away_counts() {
        let steps = [step(&[("a/x", "b/x")]), step(&[("a/x", "")])];

        assert_eq!(follow(&steps, "a"), []);
        assert_eq!(follow(&[step(&[("a/x", "b/x")]), step(&[("b/x", "")])], "a"), []);
    }

    #[test]
    fn a_folder_whose_name_only_begins_alike_is_another() {
        assert_eq!(follow(&[step(&[("ab/x", "c/x")])], "a"), []);
    }
}
