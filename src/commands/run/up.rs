//! `infra up`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::setup::bring_up_to_date;
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
    bring_up_to_date(context).await?;
    let request =
        Request { typed: "up", yes: args.yes, ..Request::new(RunCommand::Apply, StackArgs::all(), args.run) };
    execute(request, context).await
}
