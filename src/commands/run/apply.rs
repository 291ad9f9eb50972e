//! `infra apply`.

use std::path::PathBuf;

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::{DetailArgs, SAVED_PLANS, StackArgs};
use crate::error::{Exit, Result};
use crate::model::RunCommand;

/// Show what will be done, ask once, and do it
///
/// Examples:
///   infra apply                     the stack of this folder
///   infra apply --layer platforms   one layer
///   infra apply --all --yes         everything as it is now, without a question
///   infra apply --all --saved       exactly the plans that `infra plan --all` saved
///   infra apply --all --plan-dir D  exactly those of `infra plan --all --out-dir D`
///   infra apply --bundle F          exactly those of `infra plan --bundle F` of another job
///   infra apply --resume --yes      what the last apply left undone
///
/// Plans that `infra plan` saved are taken as they are where they still fit; what no longer
/// fits is planned again, shown and asked about. Lower layers come first; a layer is planned
/// when the layers below it are applied. Without a terminal `--yes` or `--saved` is needed.
/// `--saved` looks at all plans before the first is applied: one that no longer fits, and
/// nothing is done (exit 1). A stack without a saved plan is named and left.
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ApplyArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    shown: DetailArgs,
    /// Do not ask
    #[arg(long, short = 'y', visible_alias = "auto-approve")]
    yes: bool,
    /// Apply exactly the saved plans, without a question; refuse all if one no longer fits
    #[arg(long, help_heading = SAVED_PLANS)]
    saved: bool,
    /// Has no effect: saved plans that no longer fit are always planned again
    #[arg(long, hide = true)]
    plan_only_stale: bool,
    /// Apply exactly the plans that were saved in this folder, as with `--saved`
    #[arg(long, value_name = "D", help_heading = SAVED_PLANS)]
    plan_dir: Option<PathBuf>,
    /// Apply exactly the plans of this file of `plan --bundle`, once they are proven to fit; repeatable
    #[arg(long, value_name = "FILE", help_heading = SAVED_PLANS, conflicts_with_all = ["plan_dir", "resume"])]
    bundle: Vec<PathBuf>,
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
        saved: args.saved || args.plan_dir.is_some() || !args.bundle.is_empty(),
        bundles: args.bundle,
        plans_dir: args.plan_dir.map(|dir| context.cwd.join(dir)),
        allow_destroy: args.allow_destroy,
        details: args.shown.details,
        extra: args.extra,
        ..Request::new(RunCommand::Apply, args.stacks, args.run)
    };
    execute(request, context).await
}
