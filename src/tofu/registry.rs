//! The registries and mirrors that OpenTofu takes providers and modules from, asked for what there is: its own
//! settings, its tokens, its protocols. Begin at [`Registries`].

mod address;
mod answers;
mod config_files;
mod config_text;
mod folder_mirror;
mod host;
mod http;
mod installation;
mod registries;
mod releases;
mod services;
mod tokens;

pub use address::{Dependency, ModuleAddress, ProviderAddress, default_host};
pub use config_files::config_files;
pub use host::Host;
pub use installation::ReleaseOrigin;
pub use registries::{Freshness, Registries};
pub use releases::Release;
