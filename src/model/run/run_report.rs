//! The report of a run: the JSON that scripts read, and what every summary is made from.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{ChangeCounts, ReportedChange, ResourceChange, RunCommand, StackId};

/// How a stack ended.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StackResult {
    /// Did what was asked, and there was something to do.
    Succeeded,
    /// There was nothing to do.
    NoChanges,
    /// tofu, or something before it, failed.
    Failed,
    /// Not run, because of another stack or a person's no.
    Skipped,
    /// Not planned, because a stack it takes values from is not applied yet.
    Deferred,
    /// Stopped by a signal.
    Interrupted,
}

/// Why a stack failed.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct StackError {
    /// A stable name where there is one, such as `state-locked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// One line.
    pub summary: String,
    /// The rest, as tofu or this program says it.
    pub detail: String,
    /// What to do, where that is known; several are separated by line breaks.
    pub hint: Option<String>,
}

impl StackError {
    /// The code of a failure because another process holds the lock.
    pub const LOCKED: &str = "state-locked";

    /// The code of a failure because a plan no longer fits.
    pub const STALE_PLAN: &str = "stale-plan";

    /// The code of a failure because a plan was not made by this user.
    pub const UNTRUSTED_PLAN: &str = "untrusted-plan";

    /// The code of a failure because a state that could not be saved is in the way.
    pub const UNSAVED_STATE: &str = "unsaved-state";

    /// The code of a failure because a backend or a registry cannot be reached.
    pub const UNAVAILABLE: &str = "unavailable";

    /// The code of a failure because credentials are missing or wrong.
    pub const REFUSED: &str = "refused";

    /// The code of a failure because a state is not where it is looked for.
    pub const STATE_ELSEWHERE: &str = "state-elsewhere";

    /// The code of a failure because a state is still at the old place.
    pub const STATE_NOT_MOVED: &str = "state-not-moved";

    /// The code of a failure because another project has the state.
    pub const STATE_SHARED: &str = "state-shared";

    /// The code of a failure because the settings of a backend are unknown.
    pub const BACKEND_UNCLEAR: &str = "backend-unclear";

    /// The code of a failure because a stack seems to be another one under a new name.
    pub const STACK_RENAMED: &str = "stack-renamed";

    /// The code of a workspace that is not declared and does not exist.
    pub const WORKSPACE_UNKNOWN: &str = "workspace-unknown";

    /// Returns whether it is about a state that must be brought along first.
    pub fn is_about_the_states_place(&self) -> bool {
        let codes = [Self::STATE_ELSEWHERE, Self::STATE_NOT_MOVED, Self::STATE_SHARED, Self::STACK_RENAMED];
        self.code.as_deref().is_some_and(|code| codes.contains(&code))
    }

    /// Returns the lines of the detail without the summary, with which tofu's own words begin.
    pub fn rest_of_detail(&self) -> impl Iterator<Item = &str> {
        let rest = self.detail.strip_prefix(self.summary.as_str()).unwrap_or(&self.detail);
        rest.lines().filter(|line| !line.is_empty())
    }

    /// Returns it with one more thing to do, as the first.
    #[must_use]
    pub fn with_first_hint(mut self, hint: &str) -> Self {
        let others = self.hint.take().map(|others| format!("\n{others}")).unwrap_or_default();
        self.hint = Some(format!("{hint}{others}"));
        self
    }

    /// Returns whether a lock of another process is the cause.
    pub fn is_lock(&self) -> bool {
        self.code.as_deref() == Some(Self::LOCKED)
    }
}

/// How many tests of a stack came out how.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct TestCounts {
    /// Did as they should.
    pub passed: u32,
    /// Did not.
    pub failed: u32,
    /// Could not be finished.
    pub errored: u32,
    /// Were not run.
    pub skipped: u32,
}

impl TestCounts {
    /// Returns how many did not pass although they ran.
    pub const fn bad(self) -> u32 {
        self.failed + self.errored
    }
}

/// What became of one stack.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StackReport {
    /// The stack.
    pub id: StackId,
    /// How it ended.
    pub result: StackResult,
    /// Why it was skipped, deferred or interrupted, or why its plan is provisional.
    pub reason: Option<String>,
    /// Whether a stop was asked for before anything of it began.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_begun: bool,
    /// Whether it was planned with values that will change when the stacks before it are applied.
    #[serde(default)]
    pub provisional: bool,
    /// What the plan does; of an apply that failed or was interrupted, what was done before.
    pub add: u32,
    /// Changed in place.
    pub change: u32,
    /// Destroyed.
    pub destroy: u32,
    /// Destroyed and created again.
    pub replace: u32,
    /// Taken under management.
    pub import: u32,
    /// What the plan does to each resource, by address.
    #[serde(default)]
    pub changes: Vec<ReportedChange>,
    /// Seconds from start to end.
    pub duration_s: f64,
    /// Why it failed.
    pub error: Option<StackError>,
    /// How its tests came out, where there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// Which state the plan was made from, where that can be read: lineage and serial, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl StackReport {
    /// Why a stack is left where only saved plans are applied.
    pub const NO_SAVED_PLAN: &str = "it has no saved plan";

    /// Why a stack is skipped that a person declined.
    pub const NOT_APPROVED: &str = "not approved";

    /// Returns whether it was left because it has no saved plan.
    pub fn has_no_saved_plan(&self) -> bool {
        self.reason.as_ref().is_some_and(|reason| reason.starts_with(Self::NO_SAVED_PLAN))
    }

    /// Makes the report of a stack that ended without an error.
    pub fn new(id: StackId, result: StackResult) -> Self {
        let (reason, error) = (None, None);
        Self {
            id,
            result,
            reason,
            not_begun: false,
            provisional: false,
            add: 0,
            change: 0,
            destroy: 0,
            replace: 0,
            import: 0,
            changes: Vec::new(),
            duration_s: 0.0,
            error,
            tests: None,
            state: None,
        }
    }

    /// Adds what the plan does.
    #[must_use]
    pub const fn with_counts(mut self, counts: ChangeCounts) -> Self {
        (self.add, self.change, self.destroy) = (counts.add, counts.change, counts.destroy);
        (self.replace, self.import) = (counts.replace, counts.import);
        self
    }

    /// Adds what the plan does to each resource, and counts it.
    #[must_use]
    pub fn with_changes(mut self, changes: &[ResourceChange]) -> Self {
        self.changes = changes.iter().map(ReportedChange::from).collect();
        self.changes.sort_by(|one, other| one.address.cmp(&other.address));
        self.with_counts(ChangeCounts::of(changes))
    }

    /// Adds why it was skipped, deferred or interrupted.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Marks the plan as made from values that will change.
    #[must_use]
    pub fn provisional(mut self, reason: impl Into<String>) -> Self {
        self.provisional = true;
        self.with_reason(reason)
    }

    /// Returns the counts together.
    pub const fn counts(&self) -> ChangeCounts {
        let Self { add, change, destroy, replace, import, .. } = self;
        ChangeCounts { add: *add, change: *change, destroy: *destroy, replace: *replace, import: *import }
    }
}

/// What became of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RunReport {
    /// Names the record below `.infra/runs`.
    pub run_id: String,
    /// What was done.
    pub command: RunCommand,
    /// When it began.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// Seconds from start to end.
    pub duration_s: f64,
    /// What the process exits with.
    pub exit_code: u8,
    /// The stacks, in the order they were to run.
    pub stacks: Vec<StackReport>,
}

impl RunReport {
    /// Returns whether a person declined, and nothing was done.
    pub fn is_declined(&self) -> bool {
        let quiet =
            |stack: &StackReport| matches!(stack.result, StackResult::NoChanges | StackResult::Skipped);
        let refused = |stack: &StackReport| stack.reason.as_deref() == Some(StackReport::NOT_APPROVED);
        self.stacks.iter().all(quiet) && self.stacks.iter().any(refused)
    }
}
