//! The person's editor, started on a file and waited for.

use std::path::Path;

use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::Environment;
use crate::process::{Invocation, passthrough};

/// Who names the editor, the most particular first.
const VARIABLES: [&str; 3] = ["SOPS_EDITOR", "VISUAL", "EDITOR"];

/// How a shell says that it found no such program.
const NOT_FOUND: i32 = 127;

/// Lets the person edit a file; fails if the editor does.
pub(super) async fn edit(path: &Path, context: &Context) -> Result<()> {
    let editor = name(&context.env);
    // The shell splits the arguments that the variable may hold; the path stays one.
    let script = format!("{editor} \"$@\"");
    let call = Invocation::new("/bin/sh", &context.cwd, context.env.clone())
        .args(["-c", &script, "infra"])
        .arg(path);
    let before = context.interrupts.count();
    let status = passthrough(call, &context.interrupts).await?;
    if status.success() {
        return Ok(());
    }
    if context.interrupts.count() > before {
        return Err(Error::interrupted("stopped while the editor was open"));
    }
    let error = Error::failed(format!("the editor `{editor}` failed: {status}"));
    match status.code() {
        Some(NOT_FOUND) => Err(error.hint("name another one: `EDITOR=nano`")),
        _ => Err(error),
    }
}

fn name(env: &Environment) -> &str {
    VARIABLES.iter().find_map(|name| env.get(name)).unwrap_or("vi")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_particular_variable_names_the_editor() {
        let env = Environment::default();
        assert_eq!(name(&env), "vi");

        let env = env.with("EDITOR", "nano -w");
        assert_eq!(name(&env), "nano -w");

        let env = env.with("VISUAL", "").with("SOPS_EDITOR", "code --wait");
        assert_eq!(name(&env), "code --wait");
    }
}
