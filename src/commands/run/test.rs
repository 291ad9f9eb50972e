//! `infra test`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::StackArgs;
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
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// What to pass on to `tofu test`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: TestArgs, context: &Context) -> Result<Exit> {
    let request = Request::new(RunCommand::Test, args.stacks, args.run);
    execute(Request { extra: args.extra, ..request }, context).await
}
