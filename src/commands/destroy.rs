//! `infra destroy`.

use clap::Args;

use super::Context;
use super::stack_args::StackArgs;
use super::stack_run::{Request, RunArgs, execute};
use crate::error::{Exit, Result};
use crate::model::RunCommand;
use crate::tofu::call::PlanMode;

/// Destroy everything in the chosen stacks, higher layers first
///
/// Shows what goes away and asks for the project's name.
///
/// Examples:
///   infra destroy 03-legacy/pihole
///   infra destroy --all --yes
///   infra destroy --removed         what is gone from the tree but still there
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DestroyArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// Do not ask
    #[arg(long, short = 'y', visible_alias = "auto-approve")]
    yes: bool,
    /// Destroy stacks that are gone from the tree, as they were last applied
    #[arg(long)]
    removed: bool,
    /// Let protected stacks lose resources without a question
    #[arg(long)]
    allow_destroy: bool,
    /// What to pass on to `tofu plan`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: DestroyArgs, context: &Context) -> Result<Exit> {
    let request = Request {
        mode: PlanMode::Destroy,
        yes: args.yes,
        allow_destroy: args.allow_destroy,
        removed: args.removed,
        extra: args.extra,
        ..Request::new(RunCommand::Destroy, args.stacks, args.run)
    };
    execute(request, context).await
}
