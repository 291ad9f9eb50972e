//! The one way to ask git: only questions, and nothing of the repository runs to answer them.
//!
//! A repository's own configuration names programs, and so does one that merely lies in the
//! tree: a bare repository inside a project answers for every folder below it. So git starts
//! at the folder with `.git`, where that one is found before any other; settings that start
//! programs are overridden, content filters that the configuration names are switched off,
//! and no transport is allowed, because a missing object would be fetched. Of the caller's
//! `GIT_*` only those stay that say where the person's own configuration is: a git hook sets
//! others that lead to another repository.
//!
//! No git, no repository, or one that git distrusts because another user owns it: there is no
//! answer. `git status` is asked because no plumbing command compares contents without
//! writing the index. Begin at [`Git::around`].

mod commits;
mod comparison;
mod contents;
mod renames;

pub use comparison::{Difference, FileKind, RecordedFile};

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::child::{Captured, capture};
use super::interrupts::Interrupts;
use super::invocation::Invocation;
use crate::error::{Error, Result};
use crate::model::{Environment, quoted};

/// Settings that start programs or lead elsewhere; a name that an older git does not know is ignored.
const SETTINGS: [&str; 12] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "credential.helper=",
    "gpg.program=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// What decides in git, whatever the caller has set.
const VARIABLES: [(&str, &str); 6] = [
    // Answers are read by a program.
    ("LC_ALL", "C"),
    // No index is rewritten for a look.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // A list of allowed transports wins over what the configuration allows for one of them.
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// The caller's `GIT_*` that stay: where the person's own configuration is.
const KEPT: [&str; 3] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// A repository that a folder lies in.
#[derive(Debug)]
pub struct Git {
    /// The folder with `.git`.
    top: PathBuf,
    /// The folder that is asked about, below that.
    below: PathBuf,
    env: Environment,
    interrupts: Interrupts,
}

/// How a working tree differs from its commit.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct GitStatus {
    /// The commit; none in a repository without one.
    pub commit: Option<String>,
    /// Tracked files that are not as they were committed, below the folder.
    pub changed: Vec<PathBuf>,
}

/// A file that git knows.
#[derive(Debug, Eq, PartialEq)]
pub struct TrackedFile {
    /// Where it lies, below the folder.
    pub path: PathBuf,
    /// What git has of it: mode, id of the content and stage.
    pub recorded: String,
}

/// What git takes the paths of a question for.
#[derive(Clone, Copy, PartialEq)]
enum Paths {
    Literal,
    Patterns,
}

impl Git {
    /// Finds the repository around a folder.
    pub fn around(folder: &Path, env: &Environment, interrupts: &Interrupts) -> Option<Self> {
        let top = folder.ancestors().find(|folder| folder.join(".git").exists())?;
        let below = folder.strip_prefix(top).ok()?.to_owned();
        let (env, interrupts) = (environment(env, top), interrupts.clone());
        Some(Self { top: top.to_owned(), below, env, interrupts })
    }

    /// Returns the folder with `.git`.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns those of some paths below the folder that git is told to leave out, whether they are there or not.
    pub async fn ignored_among(&self, paths: impl Iterator<Item = &PathBuf>) -> Option<Vec<PathBuf>> {
        // It ends paths by a zero byte only where they come by standard input; a name with a control
        // character is quoted here, and so is none of those that were asked about.
        let call =
            self.call_about(Paths::Patterns, &["core.quotePath=false".into()], "check-ignore").arg("--");
        let captured =
            capture(call.args(paths.map(|path| self.below.join(path))), &self.interrupts).await.ok()?;
        let answer = match captured.status.code() {
            // None of them.
            Some(1) => &[],
            Some(0) => captured.stdout.unmasked(),
            _ => return None,
        };
        Some(answer.split(|byte| *byte == b'\n').filter_map(|path| self.below_folder(path)).collect())
    }

    /// Returns the way from there to the folder that is asked about.
    pub fn below(&self) -> &Path {
        &self.below
    }

    /// Returns the files and folders below the folder that git was told to leave out, and does not know. One
    /// that holds the folder itself is the empty path.
    pub async fn ignored(&self) -> Option<Vec<PathBuf>> {
        let options = ["-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let answer = self.ask(self.about_folder(self.call(&[], "ls-files").args(options))).await?;
        let path = |part: &[u8]| {
            let path = Path::new(OsStr::from_bytes(part));
            if self.below.starts_with(path) { Some(PathBuf::new()) } else { self.below_folder(part) }
        };
        Some(parts(&answer).filter_map(path).map(|path| path.components().collect()).collect())
    }

    /// Returns the commit and what differs from it, in the files that git knows.
    pub async fn status(&self) -> Option<GitStatus> {
        let options = ["--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=no"];
        // A look into a submodule is a git of its own with a configuration of its own.
        let call = self
            .call(&self.filter_settings().await?, "status")
            .args(options)
            .arg("--ignore-submodules=dirty");
        let answer = self.ask(self.about_folder(call)).await?;
        let commit = parts(&answer).find_map(|entry| entry.strip_prefix(b"# branch.oid "));
        let commit = commit.and_then(|commit| str::from_utf8(commit).ok()).filter(|text| is_commit(text));
        let changed = parts(&answer).filter_map(changed_path).filter_map(|path| self.below_folder(path));
        Some(GitStatus { commit: commit.map(str::to_owned), changed: changed.collect() })
    }

    /// Returns the files that git knows, below the folder.
    pub async fn tracked(&self) -> Option<Vec<TrackedFile>> {
        self.tracked_in(std::iter::once(Path::new("."))).await
    }

    /// Returns the files that git knows, in places below the folder or at them.
    pub async fn tracked_in(&self, places: impl Iterator<Item = &Path>) -> Option<Vec<TrackedFile>> {
        let call = self.call(&[], "ls-files").args(["-s", "-z", "--"]);
        let answer = self.ask(call.args(places.map(|place| self.below.join(place)))).await?;
        let files = parts(&answer).filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let recorded = String::from_utf8_lossy(&entry[..tab]).into_owned();
            Some(TrackedFile { path: self.below_folder(&entry[tab + 1..])?, recorded })
        });
        Some(files.collect())
    }

    /// Returns whether a file below the folder is there that git does not know, and was not told to leave out.
    pub async fn lacks(&self, file: &Path) -> bool {
        let call = self.call(&[], "ls-files").args(["-z", "--others", "--exclude-standard", "--"]);
        self.ask(call.arg(self.below.join(file))).await.is_some_and(|answer| !answer.is_empty())
    }

    /// Returns the files below the folder that differ between two commits.
    pub async fn changed_between(&self, old: &str, new: &str) -> Option<Vec<PathBuf>> {
        let options = ["-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv"];
        let known = is_commit(old) && is_commit(new);
        let call = known.then(|| self.call(&[], "diff-tree").args(options).args([old, new]))?;
        let answer = self.ask(self.about_folder(call)).await?;
        Some(parts(&answer).filter_map(|path| self.below_folder(path)).collect())
    }

    fn call(&self, more: &[OsString], command: &str) -> Invocation {
        self.call_about(Paths::Literal, more, command)
    }

    fn call_about(&self, paths: Paths, more: &[OsString], command: &str) -> Invocation {
        let call = Invocation::new("git", &self.top, self.env.clone()).arg("--no-pager");
        let call = call.args((paths == Paths::Literal).then_some("--literal-pathspecs"));
        let settings = SETTINGS.iter().map(OsStr::new).chain(more.iter().map(OsString::as_os_str));
        settings.fold(call, |call, setting| call.arg("-c").arg(setting)).arg(command)
    }

    /// Restricts a question to the folder.
    fn about_folder(&self, call: Invocation) -> Invocation {
        call.arg("--").arg(self.place(Path::new("")))
    }

    /// Returns a place below the folder as git is asked about it.
    fn place(&self, path: &Path) -> PathBuf {
        let parts = [self.below.as_path(), path].into_iter().filter(|part| !part.as_os_str().is_empty());
        let place: PathBuf = parts.collect();
        if place.as_os_str().is_empty() { PathBuf::from(".") } else { place }
    }

    fn below_folder(&self, path: &[u8]) -> Option<PathBuf> {
        Path::new(OsStr::from_bytes(path)).strip_prefix(&self.below).ok().map(Path::to_owned)
    }

    async fn ask(&self, call: Invocation) -> Option<Vec<u8>> {
        let captured = capture(call, &self.interrupts).await.ok()?;
        captured.status.success().then(|| captured.stdout.unmasked().to_vec())
    }

    /// Asks, or tells what git says why there is no answer.
    async fn answer(&self, call: Invocation) -> Result<Vec<u8>> {
        let captured = capture(call, &self.interrupts).await?;
        match captured.status.success() {
            true => Ok(output_of(&captured).to_vec()),
            false if self.interrupts.any() => Err(Error::interrupted("stopped while git was asked")),
            false => Err(self.refusal(&captured)),
        }
    }

    /// Makes the error of a question that git refused.
    fn refusal(&self, captured: &Captured) -> Error {
        refusal(&String::from_utf8_lossy(captured.stderr.unmasked()), &self.top)
    }

    /// Returns settings that switch every content filter off; comparing a file would run it.
    ///
    /// None where git cannot be asked at all, or where one cannot be named in a setting.
    async fn filter_settings(&self) -> Option<Vec<OsString>> {
        let call = self.call(&[], "config").args(["-z", "--name-only", "--get-regexp", r"^filter\."]);
        let answer = capture(call, &self.interrupts).await.ok()?;
        match answer.status.code() {
            Some(0) => switched_off(answer.stdout.unmasked()),
            // No such setting.
            Some(1) => Some(Vec::new()),
            _ => None,
        }
    }
}

fn output_of(captured: &Captured) -> &[u8] {
    captured.stdout.unmasked()
}

/// Makes the error of a question that git refused, in its own words.
fn refusal(said: &str, top: &Path) -> Error {
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let first = lines.clone().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let why = first.or_else(|| lines.clone().next()).unwrap_or("it ended without a word");
    let why = why.trim_start_matches("fatal:").trim_start_matches("error:").trim();
    let error = Error::unavailable(format!("git gives no answer: {why}"));
    match why.contains("dubious ownership") {
        true => error.hint(format!(
            "another user owns it; if you trust that: `git config --global --add safe.directory {}`",
            quoted(&top.display().to_string())
        )),
        false => error,
    }
}

/// Returns the settings that switch off those that git named.
fn switched_off(names: &[u8]) -> Option<Vec<OsString>> {
    let settings = parts(names).map(|name| {
        // A setting ends at the first `=`, which the name of a filter may contain as well.
        let is_clear = !name.contains(&b'=') && !name.contains(&b'\n');
        let value: &[u8] = if name.ends_with(b".required") { b"=false" } else { b"=" };
        is_clear.then(|| OsString::from_vec([name, value].concat()))
    });
    settings.collect()
}

/// Returns the environment of git: where it may look, and nothing that leads it elsewhere.
fn environment(caller: &Environment, top: &Path) -> Environment {
    let mut env = caller.clone();
    env.remove_where(|name| name.starts_with("GIT_") && !KEPT.contains(&name));
    for (name, value) in VARIABLES {
        env.set(name, value);
    }
    env.set("GIT_CEILING_DIRECTORIES", top.parent().unwrap_or(top));
    // A folder of the search path that is not absolute would be one of the repository.
    if let Some(path) = env.path("PATH") {
        let absolute = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        env.set("PATH", std::env::join_paths(absolute).unwrap_or_default());
    }
    env
}

/// Returns the entries of an answer that a zero byte ends.
fn parts(answer: &[u8]) -> impl Iterator<Item = &[u8]> {
    answer.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

/// A repository without a commit says so in words.
fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the path in an entry about a tracked file: behind eight fields, or ten of a conflict.
fn changed_path(entry: &[u8]) -> Option<&[u8]> {
    let fields = match entry.first()? {
        b'1' => 9,
        b'u' => 11,
        _ => return None,
    };
    entry.splitn(fields, |byte| *byte == b' ').nth(fields - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_what_git_says_of_tracked_files() {
        let edited = b"1 .M N... 100644 100644 100644 a1b2 a1b2 data/x y.txt";
        let conflict = b"u UU N... 100644 100644 100644 100644 a b c data/z.txt";

        assert_eq!(changed_path(edited), Some(b"data/x y.txt".as_slice()));
        assert_eq!(changed_path(conflict), Some(b"data/z.txt".as_slice()));
        assert_eq!(changed_path(b"# branch.head main"), None);
        assert_eq!(changed_path(b""), None);
    }

    #[test]
    fn what_leads_git_elsewhere_is_dropped_and_the_persons_own_configuration_stays() {
        let caller = Environment::default()
            .with("GIT_DIR", "/elsewhere")
            .with("GIT_SSH_COMMAND", "x")
            .with("GIT_CONFIG_GLOBAL", "/home/me/gitconfig")
            .with("HOME", "/home/me")
            .with("PATH", "/usr/bin:.::bin:/bin");

        let env = environment(&caller, Path::new("/srv/lab"));

        assert_eq!((env.get("GIT_DIR"), env.get("GIT_SSH_COMMAND")), (None, None));
        assert_eq!(env.get("GIT_CONFIG_GLOBAL"), Some("/home/me/gitconfig"));
        assert_eq!((env.get("PATH"), env.get("HOME")), (Some("/usr/bin:/bin"), Some("/home/me")));
        assert_eq!(env.get("GIT_CEILING_DIRECTORIES"), Some("/srv"));
    }

    #[test]
    fn filters_are_switched_off_by_name_and_an_unclear_name_is_no_answer() {
        let named = switched_off(b"filter.lfs.clean\0filter.lfs.required\0").expect("settings");

        assert_eq!(named, ["filter.lfs.clean=", "filter.lfs.required=false"]);
        assert_eq!(switched_off(b"filter.a=b.clean\0"), None);
        assert_eq!(switched_off(b""), Some(Vec::new()));
    }
}
