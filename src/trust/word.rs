//! The trust that the caller gives beforehand: `--trust`, or `INFRA_TRUST` with the roots it
//! is about.
//!
//! It holds for this call only and is never remembered.

use std::path::{Path, PathBuf};

use crate::model::Environment;

/// What the caller said about trust.
#[derive(Clone, Debug, Default)]
pub struct TrustWord {
    /// Whether it is about whatever project this call works in.
    here: bool,
    /// Roots, without links.
    roots: Vec<PathBuf>,
}

impl TrustWord {
    /// The variable that names trusted roots, separated as in `PATH`.
    pub const VARIABLE: &str = "INFRA_TRUST";

    /// Reads the flag and the variable; paths in it begin at the working folder.
    pub fn of(flag: bool, env: &Environment, cwd: &Path) -> Self {
        let list = env.path(Self::VARIABLE).unwrap_or_default();
        // An empty part, as of a variable that is not set, names nothing.
        let named: Vec<PathBuf> =
            std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect();
        let here = flag || named.iter().any(|path| path == Path::new("."));
        let roots = named.iter().filter_map(|path| std::fs::canonicalize(cwd.join(path)).ok());
        Self { here, roots: roots.collect() }
    }

    /// Returns whether it is about the project with this root.
    pub fn covers(&self, root: &Path) -> bool {
        let real = || std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        self.here || (!self.roots.is_empty() && self.roots.contains(&real()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_root_is_covered_and_its_neighbour_is_not() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        std::fs::create_dir(&one).and_then(|()| std::fs::create_dir(&other)).expect("folders");
        let env = Environment::default().with(TrustWord::VARIABLE, "one");

        let word = TrustWord::of(false, &env, dir.path());

        assert!(word.covers(&one));
        assert!(!word.covers(&other) && !word.covers(dir.path()));
        assert!(!TrustWord::default().covers(&one));
        let slip = Environment::default().with(TrustWord::VARIABLE, ":/nowhere:");
        assert!(!TrustWord::of(false, &slip, &one).covers(&one));
    }

    #[test]
    fn the_flag_and_a_dot_mean_the_project_at_hand() {
        let env = Environment::default().with(TrustWord::VARIABLE, ".");

        assert!(TrustWord::of(true, &Environment::default(), Path::new("/")).covers(Path::new("/a")));
        assert!(TrustWord::of(false, &env, Path::new("/a/b")).covers(Path::new("/a")));
    }
}
