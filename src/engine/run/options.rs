//! How a run behaves beyond what its plan says: what the command line decided.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::engine::bundle::BundleUse;
use crate::model::{RemainingStacks, StackId};
use crate::tofu::call::PlanMode;

/// Who says yes before anything is changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Approval {
    /// A person, after the plans were shown.
    Ask,
    /// The caller, beforehand.
    Given,
    /// Whoever reviewed the saved plans: they alone are applied, and only as they were shown.
    Saved,
}

/// When `init` runs by itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum WhenToInit {
    /// When something it depends on changed since the last time.
    #[default]
    Needed,
    /// Always.
    Always,
}

/// The command line's decisions for a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Names the record of the run.
    pub run_id: String,
    /// Who says yes.
    pub approval: Approval,
    /// Whether somebody is there to be asked.
    pub has_person: bool,
    /// Whether the caller trusts this project, and so takes plans that others made.
    pub trusted: bool,
    /// What plans are for.
    pub mode: PlanMode,
    /// When `init` runs.
    pub init: WhenToInit,
    /// Where reviewed plans are saved and taken from.
    pub plans_dir: PathBuf,
    /// Whether plans become a bundle, or come from some.
    pub bundle: BundleUse,
    /// Where plans lie that only this run knows; nobody else may take them for reviewed.
    pub private_dir: PathBuf,
    /// How long tofu waits for a lock, in its own notation.
    pub lock_timeout: Option<String>,
    /// What the user wrote after `--`.
    pub extra: Vec<String>,
    /// What stays although what is below it is destroyed.
    pub remaining: RemainingStacks,
    /// Whether the whole text of a saved plan is wanted, as of one that is made now.
    pub whole_plans: bool,
    /// Whether the attributes are shown that change in each resource.
    pub attributes: bool,
    /// Whether a protected stack may lose resources without a question.
    pub allow_destroy: bool,
    /// Whether changes alone make the exit code 2.
    pub detailed_exitcode: bool,
    /// How many stacks run at once; at least one.
    pub parallelism: usize,
    /// Whether nothing new starts after a failure.
    pub fail_fast: bool,
    /// How long stacks took before, in seconds.
    pub durations: BTreeMap<StackId, f64>,
}
