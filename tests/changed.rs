//! `infra changed` and `--changed`: which stacks a change affects, in real git repositories.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "changed/bases.rs"]
mod bases;
#[path = "changed/model.rs"]
mod model;
#[path = "changed/owners.rs"]
mod owners;
#[path = "changed/rendered.rs"]
mod rendered;
#[path = "changed/repository.rs"]
mod repository;
#[path = "changed/settings.rs"]
mod settings;
#[path = "changed/work.rs"]
mod work;
