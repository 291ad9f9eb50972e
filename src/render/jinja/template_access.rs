//! What templates may ask about beside their data.

use std::path::PathBuf;

use crate::model::Environment;

/// What templates may ask about: the project's files and the environment.
#[derive(Clone, Debug)]
pub struct TemplateAccess {
    /// The project's root; functions read files only below it.
    pub root: PathBuf,
    /// The variables that `env` shows.
    pub env: Environment,
}
