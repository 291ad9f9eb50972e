//! `infra drift`.

mod issue;

use clap::Args;

use super::execute::{Request, RunArgs, execute};
use crate::commands::Context;
use crate::commands::args::{DetailArgs, StackArgs};
use crate::commands::gitops::ForgeArgs;
use crate::error::{Error, Exit, Result};
use crate::model::RunCommand;
use crate::tofu::call::PlanMode;

/// Find out what changed outside; exit code 2 when something did
///
/// Nothing is changed and no plan is saved. With `--issue` one issue of the repository says what
/// drifted, what was merged and not applied, and what could not be checked; it is closed when
/// nothing drifts any more. Tokens: GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN.
///
/// Examples:
///   infra drift --all
///   infra drift --all --json        the report for a script
///   infra drift k8s-prod -v         with everything tofu writes
///   infra drift --all --issue       for a schedule of a CI system
///   infra drift --all --issue --dry-run
///                                   what the issue would say, without a token
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DriftArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    shown: DetailArgs,
    /// Keep an issue about what was found
    #[arg(long)]
    issue: bool,
    #[command(flatten)]
    forge: ForgeArgs,
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
    match (args.issue, args.forge.is_given()) {
        (true, _) => issue::run(request, &args.forge, context).await,
        (false, true) => Err(Error::usage("`--forge`, `--repo` and `--api-url` are about an issue")
            .hint("keep one: `infra drift --all --issue`")),
        (false, false) => execute(request, context).await,
    }
}
