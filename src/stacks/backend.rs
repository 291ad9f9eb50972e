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

#[cfg(test)]
mod tests {
    use super::super::sample::stack;
    use super::super::setting::{Setting, Settings};
    use super::*;

    /// Returns the warnings about a stack with this block.
    fn warnings(kind: &str, attributes: &[(&str, &str)]) -> Vec<String> {
        let literal = |(name, text): &(&str, &str)| ((*name).into(), Setting::Literal((*text).into()));
        let settings = attributes.iter().map(literal).collect::<Settings>();
        let block = BackendBlock { kind: kind.into(), settings };
        state_warnings(&Stack { backend: backend(Some(&block)), ..stack("a", &[]) })
    }

    #[test]
    fn an_s3_state_without_a_lock_is_a_warning() {
        let whole = [("bucket", "b"), ("key", "k")];
        let locked = [("bucket", "b"), ("key", "k"), ("use_lockfile", "true")];
        let unlocked = [("bucket", "b"), ("key", "k"), ("use_lockfile", "false")];

        assert!(warnings("s3", &whole)[0].contains("no state lock"));
        assert!(warnings("s3", &unlocked)[0].contains("no state lock"));
        assert_eq!(warnings("s3", &locked), [""; 0]);
        assert_eq!(warnings("s3", &[("key", "k")]), [""; 0]);
    }

    #[test]
    fn a_deprecated_endpoint_and_local_state_are_warnings() {
        assert!(warnings("s3", &[("endpoint", "https://r2")])[0].contains("deprecated `endpoint`"));
        assert!(warnings("local", &[])[0].contains("local file"));
        assert_eq!(warnings("http", &[]), [""; 0]);
    }

    #[test]
    fn only_an_empty_http_block_is_the_embedded_server() {
        let settings = Settings::from([("retry_max".into(), Setting::Literal("3".into()))]);
        let partial = BackendBlock { kind: "http".into(), settings };
        let empty = BackendBlock { kind: "http".into(), settings: Settings::new() };

        assert_eq!(backend(Some(&empty)), Backend::Embedded);
        assert!(matches!(backend(Some(&partial)), Backend::Configured { .. }));
        assert_eq!(backend(None), Backend::None);
    }
}
