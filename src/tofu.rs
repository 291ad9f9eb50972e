//! OpenTofu as this program knows it: its binary, arguments, environment, messages
//! and failures. Other modules never spell a tofu flag or match its text.
//!
//! [`locate`] finds a tofu that suits the project, or installs one; [`call`] builds its
//! calls.

mod binary;
pub mod call;
mod constraint;
mod encryption;
mod envelope;
mod environment;
mod hints;
mod install;
mod locate;
mod messages;
mod plan_envelope;
mod providers;
pub mod registry;
mod variables;
mod version;

pub use binary::{LocateRequest, PassedOver, Progress, ReleaseSource, Search, Tofu, TofuSource};
pub use constraint::Constraint;
pub use constraint::{Operator, Term, split_term};
pub use encryption::{
    PLAN_KEY_COMMAND, PlanPart, SHORTEST_PASSPHRASE, StateBefore, StateKey, plan_key_command, with_plan_part,
};
pub use envelope::{PlanForm, is_encrypted, open_state, seal_state};
pub use environment::{child_environment, with_http_backend, with_rare_collection};
pub use hints::{HintContext, cause_of, hints_for, tells_of_a_held_lock, tells_of_missing_state};
pub use install::{Origin, Receipt, newest_release, receipt, releases};
pub use locate::{find, install, locate, named_path, search};
pub use messages::{
    Message, framed_diagnostic, is_problem, progress_of, read_message, validation_diagnostics,
};
pub use plan_envelope::{PlanKey, seal_plan_with};
pub use providers::with_plugin_cache;
pub use variables::{Assignment, VariableSource, collect_literals, to_tfvars};
pub use version::{FLOOR, Flavour, PIN};
