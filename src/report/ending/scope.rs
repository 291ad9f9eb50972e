//! In which words the stacks of a run, and what was asked of them, can be said again.

use std::collections::BTreeSet;

use super::passed::PassedArguments;
use crate::model::StackId;

/// What a choice of stacks can be said with.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// How the stacks of the run were chosen on the command line; `None` if that would choose others.
    pub typed: Option<String>,
    /// All stacks of the project.
    pub stacks: Vec<StackId>,
    /// Whether the plans are there to destroy.
    pub destroys: bool,
    /// The folder that was named for the plans, as a shell takes it.
    pub plans_dir: Option<String>,
    /// The flag of the bundle that is made, or of the first that is applied, as a shell takes it.
    pub bundle: Option<String>,
    /// Whether plans cannot be kept, so that each lives for its run only.
    pub keeps_no_plans: bool,
    /// Whether saved plans are applied and nothing else.
    pub saved: bool,
    /// Whether there is no person to ask.
    pub unattended: bool,
    /// What else the same command needs to go on, such as a yes beforehand.
    pub to_go_on: Option<String>,
    /// The same command once more, with every attribute; `None` if it cannot be repeated.
    pub in_full: Option<String>,
    /// What was passed on to tofu.
    pub passed: PassedArguments,
    /// Stacks that must not lose anything without a word.
    pub protected: BTreeSet<StackId>,
}

impl Scope {
    /// Returns the flags that apply the plans of this run; who can be asked needs none.
    pub fn way_to_apply(&self) -> Option<String> {
        let unasked = self.unattended && !self.keeps_no_plans;
        self.plan_dir_flag().or_else(|| unasked.then(|| "--saved".to_owned()))
    }

    pub fn out_dir_flag(&self) -> String {
        self.plans_dir.as_ref().map(|dir| format!(" --out-dir {dir}")).unwrap_or_default()
    }

    pub fn plan_dir_flag(&self) -> Option<String> {
        self.plans_dir.as_ref().map(|dir| format!("--plan-dir {dir}"))
    }
}
