//! `infra drift`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::{DetailArgs, StackArgs};
use crate::error::{Exit, Result};
use crate::model::RunCommand;
use crate::tofu::call::PlanMode;

/// Find out what changed outside; exit code 2 when something did
///
/// Nothing is changed and no plan is saved.
///
/// Examples:
///   infra drift --all
///   infra drift --all --json        the report for a script
///   infra drift k8s-prod -v         with everything tofu writes
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DriftArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    shown: DetailArgs,
    /// What to pass on to `tofu plan`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: DriftArgs, context: &Context) -> Result<Exit> {
    let request = Request {
        mode: PlanMode::RefreshOnly,
        detailed_exitcode: true,
        details: args.shown.details,
        extra: args.extra,
        ..Request::new(RunCommand::Drift, args.stacks, args.run)
    };
    execute(request, context).await
}
