//! Paths as texts: nothing is looked up on a disk.

use std::path::{Component, Path, PathBuf};

/// Returns a path without dots, as far as it does not lead out of where it begins: two spellings of one
/// place are the same then.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(clean.components().next_back(), Some(Component::Normal(_))) => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_go_and_what_leads_out_stays() {
        for (path, clean) in [("a/./b/../c", "a/c"), ("../a/..", ".."), ("/a/../../b", "/../b"), ("a/..", "")]
        {
            assert_eq!(without_dots(Path::new(path)), Path::new(clean), "{path}");
        }
    }
}
