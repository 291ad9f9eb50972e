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
mod known_versions;
pub mod messages;
mod mirrors;
pub mod plugin_cache;
mod probe;
mod progress;
pub mod variables;
mod version;

pub use binary::{
    LocateRequest, PassedOver, Search, Source, Tofu, find, install, locate, named_path, search,
};
pub use constraint::Constraint;
pub use install::{Origin, Receipt, ReleaseSource, newest_release, receipt};
pub use progress::Progress;
pub use version::{FLOOR, Flavour, PIN};
