//! What lies around the stacks in a repository: the files that belong to no stack and no
//! module, but that a plan may have read, such as data, templates, scripts and `infra.yaml`.
//!
//! A plan remembers the commit it was made from and what was edited and not yet committed
//! then; whether a file changed since is found out from git. Documents, hidden files
//! and files that git does not know do not count. Outside of a repository nothing is known,
//! and nothing is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell};

use super::session::Session;
use crate::model::Fingerprint;
use crate::process::{self, Invocation};

/// What a plan remembers of the files around the stacks.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Surroundings {
    /// The commit.
    commit: String,
    /// Files that differed from it, by their path below the project; nothing for one that was gone.
    uncommitted: BTreeMap<String, Option<Fingerprint>>,
}

impl Surroundings {
    /// Looks at the repository; nothing where there is none, or no commit.
    ///
    /// Every plan pays for this, so git is asked once.
    pub(super) async fn look(session: &Session) -> Option<Self> {
        let prefix = below_repository(&session.project.root)?;
        let status =
            ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--untracked-files=no", "--", "."];
        let status = git(session, &status).await?;
        let commit = status.split('\0').find_map(|entry| entry.strip_prefix("# branch.oid "))?;
        let paths = status.split('\0').filter_map(changed_path).filter_map(|path| path.strip_prefix(&prefix));
        let around = paths.filter(|path| is_around(session, path));
        let uncommitted = around.map(|path| (path.to_owned(), digest(session, path))).collect();
        is_commit(commit).then(|| Self { commit: commit.to_owned(), uncommitted })
    }

    /// Returns a file that is not as it was.
    pub(super) async fn change_since(&self, session: &Session) -> Option<String> {
        let now = session.surroundings().await?;
        let Some(committed) = session.repository.changes(session, &self.commit, &now.commit).await else {
            return Some("the commit it was made from".to_owned());
        };
        let mut candidates: BTreeSet<&String> = committed.iter().collect();
        candidates.extend(self.uncommitted.keys().chain(now.uncommitted.keys()));
        let changed = |path: &&String| match self.uncommitted.get(*path) {
            Some(then) => digest(session, path) != *then,
            None => is_around(session, path),
        };
        candidates.into_iter().find(changed).cloned()
    }
}

/// What was asked of git in a run, so that many stacks ask once.
#[derive(Debug, Default)]
pub(super) struct Repository {
    now: OnceCell<Option<Surroundings>>,
    diffs: Mutex<BTreeMap<String, Option<Rc<Vec<String>>>>>,
}

impl Repository {
    /// Returns what lies around the stacks, as it was when the first asked.
    pub async fn now(&self, session: &Session) -> Option<&Surroundings> {
        self.now.get_or_init(|| Surroundings::look(session)).await.as_ref()
    }

    /// Returns the files that differ between two commits; nothing if one of them is not known.
    async fn changes(&self, session: &Session, old: &str, new: &str) -> Option<Rc<Vec<String>>> {
        let mut diffs = self.diffs.lock().await;
        if let Some(known) = diffs.get(old) {
            return known.clone();
        }
        let diff =
            ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--relative", old, new, "--", "."];
        let told = if old == new { Some(String::new()) } else { git(session, &diff).await };
        let paths =
            |text: String| text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        let changed = told.map(paths).map(Rc::new);
        diffs.insert(old.to_owned(), changed.clone());
        changed
    }
}

/// Returns where a folder lies in its repository: empty at its top, else with a slash at the end.
fn below_repository(root: &Path) -> Option<String> {
    let top = root.ancestors().find(|folder| folder.join(".git").exists())?;
    let below = root.strip_prefix(top).ok()?.to_str()?;
    Some(if below.is_empty() { String::new() } else { format!("{below}/") })
}

/// A repository without a commit says so in words.
fn is_commit(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the path in an entry about a tracked file: behind eight fields, or ten of a conflict.
fn changed_path(entry: &str) -> Option<&str> {
    let fields = match entry.as_bytes().first()? {
        b'1' => 9,
        b'u' => 11,
        _ => return None,
    };
    entry.splitn(fields, ' ').nth(fields - 1)
}

async fn git(session: &Session, args: &[&str]) -> Option<String> {
    let call = Invocation::new("git", &session.project.root, session.env.clone());
    // No index is rewritten for a look.
    let call = call.env("GIT_OPTIONAL_LOCKS", "0").args(args);
    let captured = process::capture(call, &session.interrupts).await.ok()?;
    let text = captured.status.success().then(|| String::from_utf8(captured.stdout.unmasked().to_vec()).ok());
    text.flatten()
}

fn digest(session: &Session, path: &str) -> Option<Fingerprint> {
    let bytes = std::fs::read(session.project.root.join(path)).ok()?;
    Some(Fingerprint::of([bytes.as_slice()]))
}

/// Stacks and modules have fingerprints of their own.
fn is_around(session: &Session, path: &str) -> bool {
    let owned = session.stacks.iter().any(|stack| {
        std::iter::once(&stack.path).chain(&stack.modules).any(|dir| Path::new(path).starts_with(dir))
    });
    !owned && may_be_read(path)
}

fn may_be_read(path: &str) -> bool {
    let hidden = path.split('/').any(|segment| segment.starts_with('.'));
    let document = Path::new(path).extension().is_some_and(|ending| ending == "md");
    !hidden && !document && !path.ends_with("LICENSE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_what_git_says_of_tracked_files() {
        let edited = "1 .M N... 100644 100644 100644 a1b2 a1b2 data/x y.txt";
        let conflict = "u UU N... 100644 100644 100644 100644 a b c data/z.txt";

        assert_eq!(changed_path(edited), Some("data/x y.txt"));
        assert_eq!(changed_path(conflict), Some("data/z.txt"));
        assert_eq!(changed_path("# branch.head main"), None);
        assert_eq!(changed_path(""), None);
    }

    #[test]
    fn documents_and_hidden_files_are_not_read_by_plans() {
        for path in ["README.md", "docs/a.md", ".github/workflows/ci.yaml", "a/.keep", "LICENSE"] {
            assert!(!may_be_read(path), "{path}");
        }
        for path in ["infra.yaml", "data/x.txt", "templates/a.tf.j2", "cluster.yaml"] {
            assert!(may_be_read(path), "{path}");
        }
    }
}
