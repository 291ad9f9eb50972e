//! A tofu binary: which one it is, where it was found, and what happens on the way to it.

mod found;
mod known_versions;
mod probe;
mod progress;
mod release_source;

pub use found::{LocateRequest, PassedOver, Search, Tofu, TofuSource};
pub use known_versions::KnownVersions;
pub use probe::{ask_version, identify, on_path};
pub use progress::Progress;
pub use release_source::ReleaseSource;
