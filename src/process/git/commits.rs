//! Which commit is checked out, and what it was made from.

use super::{Git, is_commit};

impl Git {
    /// Returns the commit that is checked out, and its parents behind it; a clone may lack those.
    pub async fn commit_with_parents(&self) -> Option<Vec<String>> {
        let call = self.call(&[], "rev-list").args(["--parents", "--max-count=1", "HEAD", "--"]);
        let answer = self.ask(call).await?;
        let commits: Vec<String> =
            str::from_utf8(&answer).ok()?.split_whitespace().map(str::to_owned).collect();
        (!commits.is_empty() && commits.iter().all(|text| is_commit(text))).then_some(commits)
    }
}
