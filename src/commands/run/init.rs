//! `infra init`.

use clap::Args;

use super::execute::{PlainRunArgs, execute};
use crate::commands::Context;
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
    plain: PlainRunArgs,
}

/// Runs the command.
pub async fn run(args: InitArgs, context: &Context) -> Result<Exit> {
    execute(args.plain.request(RunCommand::Init), context).await
}
