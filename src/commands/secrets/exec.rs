//! `infra secrets exec`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::ExitStatusExt as _;

use clap::Args;

use super::secret_file::SecretFile;
use super::{FileArgs, refused};
use crate::commands::Context;
use crate::error::{Error, Exit, Result};
use crate::model::Environment;
use crate::process::{Invocation, passthrough};
use crate::secrets::sops::tree::{Document, Item, Value};

/// Run a program with the values of a file in its environment
///
/// Every top-level value is a variable under its own name; maps and lists are left out.
/// Terminal, signals and exit code are the program's own.
///
/// Examples:
///   infra secrets exec prod.env -- ./deploy.sh
///   infra secrets exec secrets.sops.yaml -- sh -c 'curl -u "$user:$password" https://pve1:8006'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Runs the command.
pub(super) async fn run(args: &ExecArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let opened = file.open(&args.file.keys, context).await?;
    let documents = file.documents(&opened)?;
    let env = with_values(context.env.clone(), &documents, file.name())?;
    let Some((program, rest)) = args.command.split_first() else {
        return Err(Error::usage("there is no program to run"));
    };
    let call = Invocation::new(program, &context.cwd, env).args(rest);
    let status = passthrough(call, &context.interrupts).await?;
    let killed = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(killed).unwrap_or(1);
    Ok(Exit(u8::try_from(code).unwrap_or(1)))
}

/// Adds the top-level values of the first document.
fn with_values(mut env: Environment, documents: &[Document], file: &str) -> Result<Environment> {
    for item in documents.first().into_iter().flatten() {
        let Item::Pair(name, value) = item else { continue };
        let Some(value) = variable(value) else { continue };
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(refused(format!("`{}` in `{file}` cannot name a variable", name.escape_debug())));
        }
        if value.contains(&0) {
            return Err(refused(format!("the value of `{name}` in `{file}` holds a zero byte"))
                .detail("a variable of the environment cannot hold one"));
        }
        env.set(name, OsString::from_vec(value));
    }
    Ok(env)
}

/// Returns a value as a variable holds it; null, maps and lists have no such form.
fn variable(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Null | Value::Map(_) | Value::List(_) => None,
        Value::Bool(value) => Some(value.to_string().into_bytes()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        Value::Float(number) => Some(number.to_string().into_bytes()),
        Value::Time(time) => Some(time.clone().into_bytes()),
        Value::Text(bytes) => Some(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: Value) -> Item {
        Item::Pair(name.to_owned(), value)
    }

    #[test]
    fn top_level_scalars_become_variables_under_their_own_names() {
        let document = vec![
            pair("text", Value::text("a b")),
            pair("whole", Value::Int(-7)),
            pair("part", Value::Float(1.5)),
            pair("yes", Value::Bool(true)),
            pair("nothing", Value::Null),
            pair("list", Value::List(Vec::new())),
        ];

        let env = with_values(Environment::default(), &[document], "f").unwrap();

        let found: Vec<_> = ["text", "whole", "part", "yes"].map(|name| env.get(name)).into();
        assert_eq!(found, [Some("a b"), Some("-7"), Some("1.5"), Some("true")]);
        assert_eq!(env.iter().count(), 4);
    }

    #[test]
    fn what_no_environment_can_hold_is_refused_by_name_only() {
        for (name, value) in [("a=b", "hunter2"), ("", "hunter2"), ("zero", "hunter2\0")] {
            let document = vec![pair(name, Value::text(value))];

            let error = with_values(Environment::default(), &[document], "f").unwrap_err();

            assert_eq!(error.exit().0, 77);
            assert!(error.to_string().contains(name) && !error.to_string().contains("hunter2"), "{error}");
        }
    }
}
