//! Where workflows go: forges read them at the top of the repository, wherever the project lies in it.

use std::path::{Path, PathBuf};

use crate::commands::Context;
use crate::error::{Error, Kind, Result, io};
use crate::process::Git;

/// What a branch is called where nothing says it.
const USUAL_BRANCH: &str = "main";

/// The repository of a project.
pub(super) struct WorkflowPlace {
    /// Its top; the project's root where there is no repository.
    pub top: PathBuf,
    /// The project's folder below that; empty where they are one.
    pub folder: PathBuf,
    /// The repository.
    pub git: Option<Git>,
}

impl WorkflowPlace {
    /// Finds the repository of a project.
    pub fn of(root: &Path, context: &Context) -> Self {
        let git = Git::around(root, &context.env, &context.interrupts);
        let top = git.as_ref().map_or(root, Git::top).to_owned();
        let folder = root.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
        Self { top, folder, git }
    }

    /// Returns the branch that origin calls its own, as a clone wrote it down.
    pub fn default_branch(&self) -> String {
        let head = std::fs::read_to_string(self.top.join(".git/refs/remotes/origin/HEAD"));
        let named = head.ok().and_then(|text| {
            let name = text.trim().strip_prefix("ref: refs/remotes/origin/")?;
            checked_branch(name).ok()
        });
        named.unwrap_or_else(|| USUAL_BRANCH.to_owned())
    }

    /// Refuses a file that a link in its folders leads out of the repository.
    pub fn check_inside(&self, file: &str) -> Result<()> {
        let real = |path: &Path| std::fs::canonicalize(path).map_err(io("read", path));
        let path = self.top.join(file);
        let there = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
        if real(there.unwrap_or(&self.top))?.starts_with(real(&self.top)?) {
            return Ok(());
        }
        Err(Error::new(Kind::Invalid, format!("`{file}` lies out of the repository: a link leads there"))
            .hint("replace the link by a folder"))
    }
}

/// Returns a branch name that can stand in a workflow as it is.
pub(super) fn checked_branch(name: &str) -> Result<String> {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.' | '/');
    let is_plain = name.starts_with(|sign: char| sign.is_ascii_alphabetic()) && name.chars().all(fits);
    if is_plain {
        return Ok(name.to_owned());
    }
    Err(Error::usage(format!("`{}` cannot stand in a workflow as a branch", name.escape_debug()))
        .fact("expected", "letters, digits, `-`, `_`, `.` and `/`, a letter first"))
}
