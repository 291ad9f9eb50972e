//! Which subcommand a user's own arguments name, and what it evaluates.

use std::ffi::OsString;

/// What a subcommand evaluates of a configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Evaluation {
    /// All of it.
    Everything,
    /// What must be known before anything else: encryption, backend, sources of modules.
    Early,
    /// Nothing, and it takes no variables.
    Nothing,
}

/// Returns the words of the subcommand among a user's own arguments, and what it evaluates.
pub fn subcommand(args: &[OsString]) -> (Vec<&str>, Evaluation) {
    let mut words = args.iter().filter_map(|arg| arg.to_str()).skip_while(|arg| arg.starts_with('-'));
    let Some(first) = words.next() else { return (Vec::new(), Evaluation::Nothing) };
    let second = words.next().filter(|word| !word.starts_with('-'));
    match (first, second) {
        ("plan" | "apply" | "destroy" | "refresh" | "import" | "console" | "test", _) => {
            (vec![first], Evaluation::Everything)
        }
        ("state" | "workspace", Some(second))
        | ("providers", Some(second @ ("lock" | "mirror" | "schema"))) => {
            (vec![first, second], Evaluation::Early)
        }
        (
            "init" | "get" | "validate" | "output" | "show" | "graph" | "providers" | "force-unlock"
            | "taint" | "untaint",
            _,
        ) => (vec![first], Evaluation::Early),
        _ => (vec![first], Evaluation::Nothing),
    }
}
