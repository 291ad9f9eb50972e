//! Where tofu takes its providers from: mirrors on this disk, and one cache for all stacks.

mod mirrors;
mod plugin_cache;

pub use plugin_cache::with_plugin_cache;
