//! Commits by their names, and contents by their ids: many at once, in one process each.
//!
//! Names go through a pipe, so none of them is ever an option. Nothing is fetched: what a shallow
//! or partial clone lacks is not there. Begin at [`Git::commits`] and [`Git::contents`].

use super::comparison::with_lines;
use super::{Git, capture, is_commit, output_of};
use crate::error::{Error, Result};
use crate::process::Invocation;

impl Git {
    /// Returns the commits that names lead to, in their order; none where there is no such commit.
    pub async fn commits(&self, names: &[String]) -> Result<Vec<Option<String>>> {
        // A name of several lines would be several questions.
        let asked = names.iter().filter(|name| is_name(name)).map(|name| format!("{name}^{{commit}}"));
        let call = self.call(&[], "cat-file").arg("--batch-check=%(objectname)");
        let answer = self.answer(with_lines(call, asked)).await?;
        let text = String::from_utf8_lossy(&answer);
        let mut lines = text.lines();
        let commit = |name: &String| {
            let line = if is_name(name) { lines.next() } else { None };
            line.filter(|line| is_commit(line)).map(str::to_owned)
        };
        Ok(names.iter().map(commit).collect())
    }

    /// Returns the best common ancestors of two commits, the one that git takes first.
    pub async fn merge_bases(&self, one: &str, other: &str) -> Result<Vec<String>> {
        if !is_commit(one) || !is_commit(other) {
            return Err(Error::bug("a commit without an id is compared"));
        }
        let call = self.call(&[], "merge-base").args(["--all", one, other]);
        let captured = capture(call, &self.interrupts).await?;
        match captured.status.code() {
            Some(0 | 1) => {
                let text = String::from_utf8_lossy(output_of(&captured)).into_owned();
                Ok(text.lines().filter(|line| is_commit(line)).map(str::to_owned).collect())
            }
            _ => Err(self.refusal(&captured)),
        }
    }

    /// Returns whether the history here ends early; false where git cannot tell.
    pub async fn is_shallow(&self) -> bool {
        let answer = self.ask(self.call(&[], "rev-parse").arg("--is-shallow-repository")).await;
        answer.is_some_and(|answer| answer.starts_with(b"true"))
    }

    /// Returns the names of branches that are here, those of remotes included; few of them.
    pub async fn branches(&self) -> Vec<String> {
        let options = ["--count=200", "--format=%(refname:short)", "refs/heads", "refs/remotes"];
        self.lines(self.call(&[], "for-each-ref").args(options)).await
    }

    /// Returns the names of the remotes.
    pub async fn remotes(&self) -> Vec<String> {
        self.lines(self.call(&[], "remote")).await
    }

    async fn lines(&self, call: Invocation) -> Vec<String> {
        let answer = self.ask(call).await.unwrap_or_default();
        String::from_utf8_lossy(&answer).lines().map(str::to_owned).collect()
    }

    /// Returns the contents with these ids, in their order; none for one that is not here.
    pub async fn contents(&self, ids: &[&str]) -> Result<Vec<Option<Vec<u8>>>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let call = self.call(&[], "cat-file").arg("--batch");
        let answer = self.answer(with_lines(call, ids.iter().map(|id| (*id).to_owned()))).await?;
        let mut rest = answer.as_slice();
        Ok(ids.iter().map(|_| next_content(&mut rest)).collect())
    }
}

/// Returns whether a name can be asked for on a line of its own.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control)
}

/// Takes `ID TYPE SIZE`, a line end, as many bytes, and another line end; or `ID missing`.
fn next_content(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (head, after) = rest.split_at_checked(end + 1)?;
    *rest = after;
    let size = str::from_utf8(head).ok()?.trim_end().rsplit(' ').next()?.parse().ok()?;
    let (content, after) = rest.split_at_checked(size)?;
    *rest = after.get(1..).unwrap_or_default();
    Some(content.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_cut_by_their_size_and_one_that_is_missing_leaves_the_next() {
        let mut rest = b"aa blob 3\na\nb\nbb missing\ncc blob 0\n\ndd blob 1\nx\n".as_slice();
        let all: Vec<Option<Vec<u8>>> = (0..5).map(|_| next_content(&mut rest)).collect();

        assert_eq!(all, [Some(b"a\nb".to_vec()), None, Some(Vec::new()), Some(b"x".to_vec()), None]);
    }

    #[test]
    fn a_name_of_several_lines_is_none() {
        assert!(is_name("refs/heads/a b") && !is_name("a\nb") && !is_name(""));
    }
}
