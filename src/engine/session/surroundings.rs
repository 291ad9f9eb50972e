//! What lies around the stacks in a repository: the files that belong to no stack and no
//! module, but that a plan may have read, such as data, templates, scripts and `infra.yaml`.
//!
//! A plan remembers the commit it was made from and what was edited and not yet committed
//! then; whether a file changed since is found out from git. Documents, hidden files
//! and files that git does not know do not count. Outside of a repository nothing is known,
//! and nothing is refused. Begin at [`surroundings`] and [`change_around`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::repository::Surroundings;
use super::shared::Session;
use super::source::file_fingerprint;
use crate::model::Fingerprint;
use crate::process::{Git, GitStatus};

/// Returns what lies around the stacks, as it was when the first plan was made.
pub async fn surroundings(session: &Session) -> Option<&Surroundings> {
    let git = git(session).await?;
    session.repository.now.get_or_init(|| look(session, git)).await.as_ref()
}

/// Looks at the repository; `None` where there is none, or no commit.
async fn look(session: &Session, git: &Git) -> Option<Surroundings> {
    let GitStatus { commit, changed } = git.status().await?;
    let paths = changed.iter().map(|path| path.to_string_lossy().into_owned());
    let around = paths.filter(|path| is_around(session, path));
    let uncommitted = around.map(|path| (path.clone(), digest(session, &path))).collect();
    Some(Surroundings { commit: commit?, uncommitted })
}

/// Returns a file around the stacks that is not as it was when a plan was made.
pub async fn change_around(session: &Session, then: &Surroundings) -> Option<String> {
    let now = surroundings(session).await?;
    let Some(committed) = changes(session, &then.commit, &now.commit).await else {
        return Some("the commit it was made from".to_owned());
    };
    let mut candidates: BTreeSet<&String> = committed.iter().collect();
    candidates.extend(then.uncommitted.keys().chain(now.uncommitted.keys()));
    let changed = |path: &&String| match then.uncommitted.get(*path) {
        Some(then) => digest(session, path) != *then,
        None => is_around(session, path),
    };
    candidates.into_iter().find(changed).cloned()
}

async fn git(session: &Session) -> Option<&Git> {
    let find = async || Git::around(&session.project.root, &session.env, &session.interrupts);
    session.repository.git.get_or_init(find).await.as_ref()
}

/// Returns the files that differ between two commits, or `None` if one of them is not known.
async fn changes(session: &Session, old: &str, new: &str) -> Option<Rc<Vec<String>>> {
    let mut diffs = session.repository.diffs.lock().await;
    if let Some(known) = diffs.get(old) {
        return known.clone();
    }
    let told = match old == new {
        true => Some(Vec::new()),
        false => git(session).await?.changed_between(old, new).await,
    };
    let words = |path: &PathBuf| path.to_string_lossy().into_owned();
    let changed = told.map(|paths| Rc::new(paths.iter().map(words).collect::<Vec<_>>()));
    diffs.insert(old.to_owned(), changed.clone());
    changed
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
