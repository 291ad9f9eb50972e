//! What lies around the stacks in a repository: the files that belong to no stack and no
//! module, but that a plan may have read, such as data, templates, scripts and `infra.yaml`.
//!
//! A plan remembers the commit it was made from and what was edited and not yet committed
//! then; whether a file changed since is found out from git. Documents, hidden files
//! and files that git does not know do not count. Outside of a repository nothing is known,
//! and nothing is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell};

use super::session::Session;
use super::source::file_fingerprint;
use crate::model::Fingerprint;
use crate::process::{Git, GitStatus};

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
    async fn look(session: &Session, git: &Git) -> Option<Self> {
        let GitStatus { commit, changed } = git.status().await?;
        let paths = changed.iter().map(|path| path.to_string_lossy().into_owned());
        let around = paths.filter(|path| is_around(session, path));
        let uncommitted = around.map(|path| (path.clone(), digest(session, &path))).collect();
        Some(Self { commit: commit?, uncommitted })
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
    git: OnceCell<Option<Git>>,
    now: OnceCell<Option<Surroundings>>,
    diffs: Mutex<BTreeMap<String, Option<Rc<Vec<String>>>>>,
}

impl Repository {
    async fn git(&self, session: &Session) -> Option<&Git> {
        let find = async || Git::around(&session.project.root, &session.env, &session.interrupts);
        self.git.get_or_init(find).await.as_ref()
    }

    /// Returns what lies around the stacks, as it was when the first asked.
    pub async fn now(&self, session: &Session) -> Option<&Surroundings> {
        let git = self.git(session).await?;
        self.now.get_or_init(|| Surroundings::look(session, git)).await.as_ref()
    }

    /// Returns the files that differ between two commits; nothing if one of them is not known.
    async fn changes(&self, session: &Session, old: &str, new: &str) -> Option<Rc<Vec<String>>> {
        let mut diffs = self.diffs.lock().await;
        if let Some(known) = diffs.get(old) {
            return known.clone();
        }
        let told = match old == new {
            true => Some(Vec::new()),
            false => self.git(session).await?.changed_between(old, new).await,
        };
        let words = |path: &PathBuf| path.to_string_lossy().into_owned();
        let changed = told.map(|paths| Rc::new(paths.iter().map(words).collect::<Vec<_>>()));
        diffs.insert(old.to_owned(), changed.clone());
        changed
    }
}

fn digest(session: &Session, path: &str) -> Option<Fingerprint> {
    file_fingerprint(&session.project.root.join(path)).ok().flatten()
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
    // What `infra.lock` remembers of other stacks says nothing about a plan.
    let remembered = path == "infra.lock";
    !hidden && !document && !remembered && !path.ends_with("LICENSE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_hidden_files_are_not_read_by_plans() {
        for path in
            ["README.md", "docs/a.md", ".github/workflows/ci.yaml", "a/.keep", "LICENSE", "infra.lock"]
        {
            assert!(!may_be_read(path), "{path}");
        }
        for path in ["infra.yaml", "data/x.txt", "templates/a.tf.j2", "cluster.yaml"] {
            assert!(may_be_read(path), "{path}");
        }
    }
}
