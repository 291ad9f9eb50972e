//! The flags by which variables reach a call: files by their names, values through pipes.

use std::ffi::OsString;
use std::path::Path;

use crate::process::Invocation;
use crate::tofu::variables::VariableSource;

/// Gives a call variables.
pub fn with_variables(call: Invocation, sources: &[VariableSource]) -> Invocation {
    sources.iter().fold(call, |call, source| match source {
        VariableSource::File(file) => call.arg(joined("-var-file=", file)),
        VariableSource::Text(text) => call.feed("-var-file=", text.as_bytes().to_vec()),
    })
}

/// Gives a call, still without a subcommand, variables that it evaluates before anything else.
///
/// Every subcommand of OpenTofu that loads a configuration takes them.
pub fn with_early_variables(base: Invocation, sources: &[VariableSource]) -> Invocation {
    sources.iter().fold(base, |base, source| match source {
        VariableSource::File(file) => base.first_flag(joined("-var-file=", file)),
        VariableSource::Text(text) => {
            let (base, path) = base.feed_quietly(text.as_bytes().to_vec());
            base.first_flag(format!("-var-file={path}"))
        }
    })
}

/// Returns a call in which a subcommand gets variables although its arguments are the user's own.
pub fn with_default_variables(base: Invocation, words: &[&str], sources: &[VariableSource]) -> Invocation {
    let mut flags = Vec::new();
    let mut base = base;
    for source in sources {
        match source {
            VariableSource::File(file) => flags.push(format!("'-var-file={}'", file.display())),
            VariableSource::Text(text) => {
                let (fed, path) = base.feed_quietly(text.as_bytes().to_vec());
                flags.push(format!("-var-file={path}"));
                base = fed;
            }
        }
    }
    let name = format!("TF_CLI_ARGS_{}", words.join("_").replace('-', "_"));
    if flags.is_empty() { base } else { base.env(&name, &flags.join(" ")) }
}

/// Returns a flag whose value is a path, which may be no UTF-8.
pub fn joined(flag: &str, path: &Path) -> OsString {
    let mut arg = OsString::from(flag);
    arg.push(path);
    arg
}
