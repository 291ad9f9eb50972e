//! What a person is told of a plugin that failed.
//!
//! A traceback may show values, so only the kind of the error is told. Two kinds are about the code
//! alone, and say where it is or what it wants: they end most first runs on a new machine.

use std::path::Path;

use super::Plugins;
use crate::error::Error;

/// Makes the error from what Python wrote.
pub(super) fn failed(plugins: &Plugins, root: &Path, stderr: &[u8]) -> Error {
    let text = String::from_utf8_lossy(stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let kind = last.split(':').next().unwrap_or_default().trim();
    let files = plugins.files.join(", ");
    match kind {
        "SyntaxError" | "IndentationError" => {
            Error::invalid(format!("the Python plugin failed: {kind}, as `python3` reads it"))
                .at(place_of_code(root, &text).unwrap_or(files))
                .hint("it may be written for a newer Python: `python3 --version`")
                .hint_if(own_environment(root))
        }
        "ModuleNotFoundError" => Error::invalid(format!("the Python plugin failed: {last}"))
            .at(files)
            .hint_if(own_environment(root))
            .hint("install what it imports for `python3`, or move the values into `derive.yaml`"),
        kind => Error::invalid(format!("the Python plugin failed: {kind}"))
            .at(files)
            .hint("run makejinja itself to see the traceback, or move the values into `derive.yaml`"),
    }
}

/// Returns the last place in a traceback, which is the code that cannot be read.
fn place_of_code(root: &Path, text: &str) -> Option<String> {
    let line = text.lines().rev().find_map(|line| line.trim().strip_prefix("File \""))?;
    let (file, number) = line.split_once("\", line ")?;
    let number: u32 = number.split(',').next()?.trim().parse().ok()?;
    let file = Path::new(file).strip_prefix(root).unwrap_or(Path::new(file));
    file.extension()
        .is_some_and(|extension| extension == "py")
        .then(|| format!("{}:{number}", file.display()))
}

/// Returns how to run in the Python environment that the project keeps for itself.
fn own_environment(root: &Path) -> Option<&'static str> {
    let has_uv = root.join("uv.lock").is_file();
    has_uv.then_some("the project has a Python environment of its own: `uv run infra configure`")
}
