//! OpenTofu as this program knows it: its binary, arguments, environment, messages
//! and failures. Other modules never spell a tofu flag or match its text.
//!
//! [`locate`] finds a tofu that suits the project, or installs one; [`call`] builds its
//! calls.

mod binary;
pub mod call;
mod constraint;
pub mod encryption;
pub mod envelope;
pub mod environment;
pub mod hints;
mod install;
mod locate;
pub mod messages;
mod plan_envelope;
mod providers;

pub mod variables;
mod version;

pub use binary::{LocateRequest, PassedOver, Progress, ReleaseSource, Search, Tofu, TofuSource};
pub use constraint::Constraint;
pub use install::{Origin, Receipt, newest_release, receipt};
pub use locate::{find, install, locate, named_path, search};
pub use plan_envelope::{PlanKey, seal_plan_with};
pub use providers::plugin_cache;
pub use version::{FLOOR, Flavour, PIN};
