//! What was asked of git in a command, so that many stacks ask once.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell};

use crate::model::Fingerprint;
use crate::process::Git;

/// What a plan remembers of the files around the stacks.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Surroundings {
    /// The commit.
    pub(super) commit: String,
    /// Files that differed from it, by their path below the project; `None` for one that was gone.
    pub(super) uncommitted: BTreeMap<String, Option<Fingerprint>>,
}

/// The answers of git.
#[derive(Debug, Default)]
pub(super) struct Repository {
    /// The repository around the project.
    pub git: OnceCell<Option<Git>>,
    /// What lay around the stacks when the first plan was made.
    pub now: OnceCell<Option<Surroundings>>,
    /// The files that differ between a commit and the current one.
    pub diffs: Mutex<BTreeMap<String, Option<Rc<Vec<String>>>>>,
}
