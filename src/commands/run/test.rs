//! `infra test`.

use clap::Args;

use super::execute::{PlainRunArgs, execute};
use crate::commands::Context;
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// Run the tests of stacks, as `tofu test` does
///
/// A test may make real things; tofu removes them again. A stack without tests is passed over.
///
/// Examples:
///   infra test --all
///   infra test k8s-prod -- -filter=tests/network.tftest.hcl
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct TestArgs {
    #[command(flatten)]
    plain: PlainRunArgs,
}

/// Runs the command.
pub async fn run(args: TestArgs, context: &Context) -> Result<Exit> {
    execute(args.plain.request(RunCommand::Test), context).await
}
