//! The nouns of the program as plain data: no file is read, no process started,
//! nothing printed here. Everything else speaks in these types.

mod backend;
mod changes;
mod clock;
mod data;
mod environment;
mod fingerprint;
mod layout;
mod lint_rules;
mod lock;
mod paths;
mod project;
mod run;
mod safe;
mod stack;
mod wording;

pub use backend::Backend;
pub use changes::{
    Action, AttributeChange, ChangeCounts, ChangeDetail, ChangeSubject, ChangedLine, PlanDifference,
    ReportedChange, ResourceChange, ValueDifference, excerpts,
};
pub use clock::Clock;
pub use data::{Derivation, Formula, Values};
pub use environment::Environment;
pub use fingerprint::{Fingerprint, hex};
pub use layout::{CONVENTIONAL_ROOTS, TOFU_ENDINGS, is_module_folder, is_skipped_folder, is_tofu_file};
pub use lint_rules::{LintLevel, LintRule, LintSettings};
pub use lock::{Holder, LockHolder, LockInfo, MOVED, ProcessPlace, StateLock};
pub use paths::without_dots;
pub use project::{
    BackendConfig, ConfigureSettings, Copies, Delimiters, Encryption, InventoryRule, Layers, LockFile,
    OutputRef, Project, PythonPlugins, RunSettings, SecretsSettings, StackSettings, StateSettings,
    TofuSettings, Undefined,
};
pub use run::{
    Diagnostic, PlanMode, RemainingStacks, RunCommand, RunOrigin, RunPlan, RunReport, Severity, StackError,
    StackReport, StackResult, StackRun, Step, TestCounts, few, is_in,
};
pub use safe::{Mask, Safe};
pub use stack::{Stack, StackId, StackWorkspace, WorkspaceOrigin, leading_number};
pub use wording::{
    counted, distance, human_duration, in_plain_sight, is_zero_width, natural_key, nearest, quoted,
    tolerance, turns_text,
};
