//! From the block as written to the backend of the model, and what is risky about it.

use super::facts::BackendBlock;
use super::setting::flatten;
use crate::model::{Backend, Stack};

/// Returns the backend that a block describes; an empty `http` block is the embedded server.
pub fn backend(block: Option<&BackendBlock>) -> Backend {
    match block {
        None => Backend::None,
        Some(block) if block.kind == "http" && block.settings.is_empty() => Backend::Embedded,
        Some(block) => Backend::Configured { kind: block.kind.clone(), attributes: flatten(&block.settings) },
    }
}

/// Returns what is risky about where a stack keeps its state, for `doctor` and before runs.
pub fn state_warnings(stack: &Stack) -> Vec<String> {
    let id = &stack.id;
    match &stack.backend {
        Backend::Embedded => Vec::new(),
        Backend::None => vec![format!("`{id}` keeps its state beside its files: it has no backend block")],
        Backend::Configured { kind, .. } if kind == "local" => {
            vec![format!("`{id}` keeps its state in a local file")]
        }
        Backend::Configured { kind, .. } if kind == "s3" => s3_warnings(stack),
        Backend::Configured { .. } => Vec::new(),
    }
}

fn s3_warnings(stack: &Stack) -> Vec<String> {
    let (id, backend) = (&stack.id, &stack.backend);
    let mut warnings = Vec::new();
    // A block without bucket or key gets the rest on the command line, a lock perhaps among it.
    let is_complete = has(backend, "bucket") && has(backend, "key");
    let is_locked = has(backend, "dynamodb_table")
        || has(backend, "use_lockfile") && backend.attribute("use_lockfile") != Some("false");
    if is_complete && !is_locked {
        warnings.push(format!("`{id}` has no state lock: set `use_lockfile = true` in its s3 backend"));
    }
    if has(backend, "endpoint") {
        warnings.push(format!("`{id}` uses the deprecated `endpoint`: write `endpoints = {{ s3 = … }}`"));
    }
    warnings
}

/// Returns whether the block gives the attribute, literal or not.
fn has(backend: &Backend, name: &str) -> bool {
    matches!(backend, Backend::Configured { attributes, .. } if attributes.contains_key(name))
}
