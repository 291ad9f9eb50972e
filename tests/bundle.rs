//! Bundles: plans in one encrypted file, from the job that made them to the one that applies them, and
//! what is refused on the way.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    dead_code,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/provider.rs"]
mod provider;
mod support;
#[path = "support/tools.rs"]
mod tools;

#[path = "bundle/damaged.rs"]
mod damaged;
#[path = "bundle/deferring.rs"]
mod deferring;
#[path = "bundle/forging.rs"]
mod forging;
#[path = "bundle/histories.rs"]
mod histories;
#[path = "bundle/hostile.rs"]
mod hostile;
#[path = "bundle/jobs.rs"]
mod jobs;
#[path = "bundle/keys.rs"]
mod keys;
#[path = "bundle/secrets.rs"]
mod secrets;
#[path = "bundle/stale.rs"]
mod stale;
#[path = "bundle/travelling.rs"]
mod travelling;
