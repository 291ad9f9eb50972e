//! `infra validate`.

use clap::Args;

use super::execute::{PlainRunArgs, execute};
use crate::commands::Context;
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
    plain: PlainRunArgs,
}

/// Runs the command.
pub async fn run(args: ValidateArgs, context: &Context) -> Result<Exit> {
    execute(args.plain.request(RunCommand::Validate), context).await
}
