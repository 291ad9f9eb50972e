//! What to say where there is nothing to run yet: no project, no stacks, or those of another tool.

use std::path::{Path, PathBuf};

use crate::commands::setup::free_name;
use crate::commands::{Context, program};
use crate::error::{Error, Result};
use crate::model::{counted, quoted};
use crate::project;
use crate::stacks;

/// Returns the root of the project around the working folder.
pub fn root_of(context: &Context) -> Result<PathBuf> {
    project::find_root(&context.cwd).map_err(|error| match stacks::terragrunt_units(&context.cwd) {
        0 => with_first_hint(&error, format!("make one: `{}`", new_command(&context.cwd, context))),
        units => terragrunt_error(&context.cwd, units),
    })
}

/// Returns an error with a hint before its own.
fn with_first_hint(error: &Error, hint: String) -> Error {
    let first = Error::new(error.kind(), error.message()).hint(hint);
    let whole = error.body().into_iter().fold(first, Error::detail);
    error.hints().iter().fold(whole, Error::hint)
}

/// Says what a repository of Terragrunt is to infra.
pub fn terragrunt_error(root: &Path, units: usize) -> Error {
    let units = counted(units, "folder");
    Error::invalid(format!("`{}` is a Terragrunt repository: {units}, no stack", root.display()))
        .detail("infra runs folders of `.tf` files; units are run by `terragrunt`")
        .hint("what works here: `infra secrets`; `infra state serve`, as a backend for units")
        .hint("how a unit becomes a stack: docs/guide.md, \"Coming from Terragrunt\"")
}

/// Returns the command that makes a project: here, where nothing is, else in a folder of its own.
pub fn new_command(folder: &Path, context: &Context) -> String {
    let program = program(context);
    match is_empty_folder(folder) && folder == context.cwd {
        true => format!("{program} new"),
        false => format!(
            "{program} new {}",
            quoted(&free_name(&context.cwd, Path::new("lab")).display().to_string())
        ),
    }
}

/// Returns whether a folder holds nothing but a repository.
pub fn is_empty_folder(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.all(|entry| entry.file_name() == ".git")
}
