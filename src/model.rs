//! The nouns of the program as plain data: no file is read, no process started,
//! nothing printed here. Everything else speaks in these types.

pub mod backend;
mod changes;
pub mod clock;
pub mod data;
pub mod environment;
pub mod fingerprint;
pub mod layout;
pub mod lint_rules;
pub mod lock;
pub mod paths;
pub mod project;
mod run;
pub mod safe;
pub mod stack;
mod wording;

pub use backend::Backend;
pub use changes::{
    Action, AttributeChange, ChangeCounts, ChangeDetail, ChangeSubject, ChangedLine, PlanDifference,
    ReportedChange, ResourceChange, ValueDifference, excerpts,
};
pub use clock::Clock;
pub use data::{Derivation, Formula, Values};
pub use environment::Environment;
pub use fingerprint::Fingerprint;
pub use lint_rules::{LintLevel, LintRule, LintSettings};
pub use lock::{Holder, LockHolder, LockInfo, MOVED, ProcessPlace, StateLock};
pub use paths::without_dots;
pub use project::{Project, StackSettings};
pub use run::{
    Diagnostic, PlanMode, RunCommand, RunPlan, RunReport, Severity, StackError, StackReport, StackResult,
    StackRun, Staying, Step, TestCounts, few, is_in,
};
pub use safe::{Mask, Safe};
pub use stack::{Stack, StackId, StackWorkspace, WorkspaceOrigin};
pub use wording::{
    counted, distance, human_duration, in_plain_sight, is_zero_width, natural_key, nearest, quoted,
    tolerance, turns_text,
};
