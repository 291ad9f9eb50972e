//! `infra apply`.

use std::path::PathBuf;

use clap::Args;

use super::Context;
use super::stack_args::StackArgs;
use super::stack_run::{Request, RunArgs, execute};
use crate::engine::StalePlans;
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// Apply the saved plans, or plan, show, ask and apply
///
/// A plan that `infra plan` saved is applied exactly as it was shown. Lower layers come
/// first; a layer is planned when the layers below it are applied.
///
/// Examples:
///   infra apply                     the stack of this folder
///   infra apply --all --yes         everything, without a question
///   infra apply --layer platforms   one layer
///   infra apply --resume --yes      what the last apply left undone
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ApplyArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    /// Do not ask
    #[arg(long, short = 'y', visible_alias = "auto-approve")]
    yes: bool,
    /// Plan again what was saved but no longer fits, instead of refusing it
    #[arg(long)]
    plan_only_stale: bool,
    /// Take the saved plans from this folder
    #[arg(long, value_name = "D")]
    plan_dir: Option<PathBuf>,
    /// Let protected stacks lose resources without a question
    #[arg(long)]
    allow_destroy: bool,
    /// What to pass on to `tofu plan`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: ApplyArgs, context: &Context) -> Result<Exit> {
    let request = Request {
        yes: args.yes,
        stale: if args.plan_only_stale { StalePlans::Replan } else { StalePlans::Refuse },
        plans_dir: args.plan_dir.map(|dir| context.cwd.join(dir)),
        allow_destroy: args.allow_destroy,
        extra: args.extra,
        ..Request::new(RunCommand::Apply, args.stacks, args.run)
    };
    execute(request, context).await
}
