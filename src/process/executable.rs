//! Whether a file is a program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Returns whether a path leads to a file with permission to run.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}
