//! `infra init`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// Prepare stacks for use: providers, modules, backend
///
/// Every other command does this by itself when it is needed.
///
/// Examples:
///   infra init --all
///   infra init k8s-prod -- -reconfigure
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// What to pass on to `tofu init`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: InitArgs, context: &Context) -> Result<Exit> {
    let request = Request::new(RunCommand::Init, args.stacks, args.run);
    execute(Request { extra: args.extra, ..request }, context).await
}
