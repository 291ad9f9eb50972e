//! `infra up`.

use clap::Args;

use super::request::{Request, RunArgs};
use super::stack_args::StackArgs;
use super::stack_run::execute;
use super::{Context, configure};
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// From nothing to everything applied: tools, configure, then every layer in order
///
/// Examples:
///   infra up                        shows every plan and asks
///   infra up --yes                  zero touch
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct UpArgs {
    /// Do not ask
    #[arg(long, short = 'y', visible_alias = "auto-approve")]
    yes: bool,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub async fn run(args: UpArgs, context: &Context) -> Result<Exit> {
    configure::bring_up_to_date(context).await?;
    let request =
        Request { typed: "up", yes: args.yes, ..Request::new(RunCommand::Apply, StackArgs::all(), args.run) };
    execute(request, context).await
}
