//! What is known of one changed path, before anybody asks whom it concerns.

use std::path::PathBuf;
use std::sync::Arc;

/// A path that is not as it was.
#[derive(Clone, Debug)]
pub struct PathChange {
    /// Where it is: absolute, the links above it followed.
    pub path: PathBuf,
    /// What was there.
    pub before: Before,
    /// What is there.
    pub now: Now,
    /// The changed paths that are the cause, where it is none itself: those that a generated file
    /// is rendered from.
    pub because: Vec<PathBuf>,
}

/// What was at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A file; its content where somebody may have to read it.
    File(Option<Arc<[u8]>>),
    /// A link, with what it said.
    Link(PathBuf),
    /// A repository of its own, in which anything may differ.
    Repository,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Now {
    /// Nothing.
    Nothing,
    /// A file.
    File,
    /// A link.
    Link,
    /// A repository of its own, in which anything may differ.
    Repository,
}

impl PathChange {
    /// Returns whether everything below the path may have changed as well.
    pub fn is_whole(&self) -> bool {
        self.before == Before::Repository || self.now == Now::Repository
    }

    /// Returns whether a link came, went or leads elsewhere.
    pub fn is_link(&self) -> bool {
        matches!(self.before, Before::Link(_)) || self.now == Now::Link
    }
}
