//! The nouns of the program as plain data: no file is read, no process started,
//! nothing printed here. Everything else speaks in these types.

pub mod backend;
pub mod change;
pub mod clock;
pub mod counted;
pub mod data;
pub mod deceptive;
pub mod diagnostic;
pub mod difference;
pub mod duration;
pub mod environment;
pub mod fingerprint;
pub mod layout;
pub mod lock;
pub mod natural;
pub mod nearest;
pub mod paths;
pub mod project;
pub mod run_plan;
pub mod run_report;
pub mod safe;
pub mod shell;
pub mod stack;
pub mod staying;

pub use backend::Backend;
pub use change::{Action, ChangeCounts, ResourceChange};
pub use clock::Clock;
pub use counted::counted;
pub use data::{Derivation, Formula, Values};
pub use deceptive::{in_plain_sight, is_zero_width, turns_text};
pub use diagnostic::{Diagnostic, Severity};
pub use difference::{PlanDifference, ValueDifference};
pub use duration::human_duration;
pub use environment::Environment;
pub use fingerprint::Fingerprint;
pub use lock::{Holder, LockHolder, LockInfo, MOVED, ProcessPlace, StateLock};
pub use natural::natural_key;
pub use nearest::nearest;
pub use paths::without_dots;
pub use project::{Project, StackSettings};
pub use run_plan::{PlanMode, RunCommand, RunPlan, StackRun, Step};
pub use run_report::{RunReport, StackError, StackReport, StackResult, TestCounts};
pub use safe::{Mask, Safe};
pub use shell::quoted;
pub use stack::{Stack, StackId, StackWorkspace, WorkspaceOrigin};
pub use staying::{Staying, few};
