//! `infra tofu`.

use std::ffi::OsString;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::commands::args::{StackArgs, stack_names, workspace_names};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::commands::{Context, program};
use crate::engine;
use crate::error::{Error, Exit, Result};
use crate::model::{Stack, quoted};

/// Run tofu itself, in a stack's folder with the right environment
///
/// Terminal, signals and exit code are tofu's own.
///
/// Examples:
///   infra tofu providers
///   infra tofu --stack pihole -- state show terraform_data.dns
///   infra tofu --stack pihole -- import terraform_data.dns some-id
///   infra tofu --stack web@dev -- state list
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct TofuArgs {
    /// The stack; default: the one of this folder, or the only one
    #[arg(long, value_name = "S", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// The workspace of the stack; default: the one it would be planned in
    #[arg(long, value_name = "W", add = ArgValueCompleter::new(workspace_names))]
    workspace: Option<String>,
    /// What to pass on
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Runs the command.
pub async fn run(args: &TofuArgs, context: &Context) -> Result<Exit> {
    let chosen = StackArgs { workspace: args.workspace.clone(), ..StackArgs::one(args.stack.clone()) };
    let loaded = LoadedProject::load_for(context, &chosen).await?;
    if args.stack.is_none() {
        refuse_stack(&loaded, &args.args, context)?;
    }
    let stack = loaded.choose_one_of(&chosen, context)?;
    let unopened = engine::unopened_for(&args.args);
    let purpose = Purpose { unopened, ..Purpose::states_of(std::slice::from_ref(&stack.id)) };
    loaded
        .with_session(context, purpose, async |session| {
            engine::pass_through(session, stack, &args.args).await.inspect(|_| engine::tell_noted(session))
        })
        .await
}

/// Refuses the name of a stack where tofu expects a command, with the line that is meant.
fn refuse_stack(loaded: &LoadedProject, args: &[OsString], context: &Context) -> Result<()> {
    let Some((first, rest)) = args.split_first() else { return Ok(()) };
    let Some(name) = first.to_str().filter(|name| !name.starts_with('-')) else { return Ok(()) };
    // A folder may be called like a command.
    let is_no_command = name.contains(['@', '/']) || rest.first().is_some_and(|arg| arg == "--");
    let is_meant = |stack: &Stack| stack.id.as_str() == name || stack.id.short_name() == name;
    if !is_no_command || !loaded.stacks.iter().any(is_meant) {
        return Ok(());
    }
    let rest = rest.iter().map(|arg| quoted(&arg.to_string_lossy())).filter(|arg| arg != "--");
    let line = rest.fold(format!("{} tofu --stack {} --", program(context), quoted(name)), |line, arg| {
        line + " " + &arg
    });
    Err(Error::usage(format!("`{name}` is a stack, and no command of tofu")).hint(format!("`{line}`")))
}
