//! The calls about the workspaces of a backend.

use crate::process::Invocation;

/// Returns the call that lists the workspaces of a backend; only 1.12 and later have it as JSON.
pub fn workspace_list(base: Invocation) -> Invocation {
    base.args(["workspace", "list"])
}

/// Returns the call that makes a workspace.
pub fn workspace_new(base: Invocation, name: &str) -> Invocation {
    base.args(["workspace", "new", "-no-color", name])
}

/// Returns the names in what tofu lists; a star stands before the one in use.
pub fn listed_workspaces(text: &str) -> Vec<String> {
    // Warnings stand on lines of their own, and begin with them.
    let names = text.lines().filter_map(|line| line.strip_prefix("* ").or_else(|| line.strip_prefix("  ")));
    names.map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
