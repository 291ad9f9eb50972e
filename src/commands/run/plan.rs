//! `infra plan`.

use std::path::PathBuf;

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::{DetailArgs, OUTPUT, SAVED_PLANS, StackArgs};
use crate::error::{Exit, Result};
use crate::model::RunCommand;
use crate::tofu::call::PlanMode;

/// Show what would change, and save the plan for `apply`
///
/// Examples:
///   infra plan                      the stack of this folder
///   infra plan --all                every stack
///   infra plan k8s-prod -v          with everything tofu writes
///   infra plan --all --json         the report for a script
///   infra plan --all --bundle F     the plans in one file, which the apply job alone can open
///   infra plan k8s-prod -- -target=terraform_data.x
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct PlanArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    shown: DetailArgs,
    /// Save the plans in this folder
    #[arg(long, value_name = "D", help_heading = SAVED_PLANS)]
    out_dir: Option<PathBuf>,
    /// Put the plans into this file, encrypted for whoever applies them with `apply --bundle`
    #[arg(long, value_name = "FILE", help_heading = SAVED_PLANS, conflicts_with = "out_dir")]
    bundle: Option<PathBuf>,
    /// Exit with code 2 if there are changes
    #[arg(long, help_heading = OUTPUT)]
    detailed_exitcode: bool,
    /// Only find out what changed outside
    #[arg(long, conflicts_with = "destroy")]
    refresh_only: bool,
    /// Plan the destruction of everything in the stacks
    #[arg(long)]
    destroy: bool,
    /// What to pass on to `tofu plan`
    #[arg(last = true, value_name = "TOFU_ARGS")]
    extra: Vec<String>,
}

/// Runs the command.
pub async fn run(args: PlanArgs, context: &Context) -> Result<Exit> {
    let mode = args.mode();
    let request = Request {
        mode,
        plans_dir: args.out_dir.map(|dir| context.cwd.join(dir)),
        bundle_file: args.bundle,
        detailed_exitcode: args.detailed_exitcode,
        details: args.shown.details,
        extra: args.extra,
        ..Request::new(RunCommand::Plan, args.stacks, args.run)
    };
    execute(request, context).await
}

impl PlanArgs {
    const fn mode(&self) -> PlanMode {
        match (self.destroy, self.refresh_only) {
            (true, _) => PlanMode::Destroy,
            (false, true) => PlanMode::RefreshOnly,
            (false, false) => PlanMode::Normal,
        }
    }
}
