//! `infra destroy`.

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::{DetailArgs, StackArgs};
use crate::error::{Exit, Result};
use crate::model::RunCommand;
use crate::tofu::call::PlanMode;

/// Destroy everything in the chosen stacks, higher layers first
///
/// Shows what goes away and asks for the project's name. Stacks that others depend on, by
/// `depends_on`, `inputs` or their state, stay while those others have resources.
///
/// Examples:
///   infra destroy 03-legacy/pihole
///   infra destroy 01-a/net --with-dependents    and what depends on it, that first
///   infra destroy 01-a/net --force              only it, whatever depends on it
///   infra destroy 02-b/app -- -var 'token=…'    with an input that is gone, by hand
///   infra destroy --all --yes
///   infra destroy --removed         what is gone from the tree but still there
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DestroyArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    shown: DetailArgs,
    /// Do not ask
    #[arg(long, short = 'y', visible_alias = "auto-approve")]
    yes: bool,
    /// Destroy stacks that are gone from the tree, as they were last applied
    #[arg(long)]
    removed: bool,
    /// Destroy what was chosen although others that still have resources depend on it
    #[arg(long, conflicts_with = "with_dependents")]
    force: bool,
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
        force: args.force,
        details: args.shown.details,
        extra: args.extra,
        ..Request::new(RunCommand::Destroy, args.stacks, args.run)
    };
    execute(request, context).await
}
