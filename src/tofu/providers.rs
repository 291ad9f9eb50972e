//! Where tofu takes its providers from: mirrors on this disk, and one cache for all stacks.

mod mirrors;
pub mod plugin_cache;
