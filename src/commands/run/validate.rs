//! `infra validate`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// Check the configuration of stacks; needs no credentials
///
/// Examples:
///   infra validate --all
///   infra validate k8s-prod --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ValidateArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// What to pass on to `tofu validate`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: ValidateArgs, context: &Context) -> Result<Exit> {
    let request = Request::new(RunCommand::Validate, args.stacks, args.run);
    execute(Request { extra: args.extra, ..request }, context).await
}
