//! Jinja2's filters where minijinja lacks them or does otherwise, and those of this program.
//!
//! A filter that is not here is minijinja's own.

mod json;
mod numbers;
mod sequences;
mod targets;
mod texts;

use minijinja::Environment;

/// Adds all of them.
pub fn add_to(env: &mut Environment<'_>) {
    texts::add_to(env);
    numbers::add_to(env);
    sequences::add_to(env);
    json::add_to(env);
    targets::add_to(env);
}
