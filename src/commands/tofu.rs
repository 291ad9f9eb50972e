//! `infra tofu`.

use std::ffi::OsString;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::Context;
use super::stack_args::{StackArgs, stack_names};
use super::workspace::{Purpose, Workspace};
use crate::engine;
use crate::error::{Exit, Result};

/// Run tofu itself, in a stack's folder with the right environment
///
/// Terminal, signals and exit code are tofu's own.
///
/// Examples:
///   infra tofu providers
///   infra tofu --stack pihole -- state show terraform_data.dns
///   infra tofu --stack pihole -- import terraform_data.dns some-id
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct TofuArgs {
    /// The stack; default: the one of this folder, or the only one
    #[arg(long, value_name = "S", add = ArgValueCompleter::new(stack_names))]
    stack: Option<String>,
    /// What to pass on
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    args: Vec<OsString>,
}

/// Runs the command.
pub async fn run(args: &TofuArgs, context: &Context) -> Result<Exit> {
    let workspace = Workspace::load_for(context, &StackArgs::one(args.stack.clone()))?;
    let stack = workspace.choose_one(args.stack.clone(), context)?;
    let unopened = engine::unopened_for(&args.args);
    let purpose = Purpose { unopened, ..Purpose::states_of(std::slice::from_ref(&stack.id)) };
    workspace
        .with_session(context, purpose, async |session| {
            engine::pass_through(session, stack, &args.args).await.inspect(|_| engine::tell_noted(session))
        })
        .await
}
