//! `infra comment`.

mod gathered;
mod moved_on;
mod whole_plans;

use std::path::PathBuf;

use clap::{Args, value_parser};

use super::forge_args::ForgeArgs;
use crate::commands::Context;
use crate::error::{Exit, Kind, Result};
use crate::forge::{CommentThread, PlanComment, Surroundings, Target};
use gathered::Gathered;

/// Say on a pull request what the plans do: one comment, kept up to date
///
/// The plans are read from records of runs, so neither a key nor a state is needed. Tokens:
/// GITHUB_TOKEN, GITLAB_TOKEN, GITEA_TOKEN.
///
/// Examples:
///   infra comment                   the last plan, on the pull request of this CI job
///   infra comment --dry-run         what would be said, without a token
///   infra comment --report a --report b
///                                   the plans of two jobs in one comment
///   infra comment --forge gitea --api-url https://git.example.com/api/v1 --repo dana/lab --pr 7
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct CommentArgs {
    #[command(flatten)]
    forge: ForgeArgs,
    /// The number of the pull request; else what the CI system says
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pr: Option<u64>,
    /// The folder of a run, wherever it comes from; may be repeated. Else the newest plan here
    #[arg(long, value_name = "DIR")]
    report: Vec<PathBuf>,
    /// Write every plan in full into this folder
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Print what would be said, and say nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
pub async fn run(args: CommentArgs, context: &Context) -> Result<Exit> {
    let surroundings = Surroundings::read(&context.env);
    let gathered = Gathered::read(&args.report, context)?;
    if let Some(dir) = &args.out_dir {
        whole_plans::write(&context.cwd.join(dir), &gathered, context)?;
    }
    let moved_on = moved_on::find(&gathered, context).await;
    if args.dry_run {
        let most = args.forge.given().kind(&surroundings).map(crate::forge::ForgeKind::most_bytes);
        let head = surroundings.head.clone();
        let comment = gathered.comment(&surroundings, head, &moved_on, context).await;
        context
            .terminal
            .data(&comment.body(most.unwrap_or(crate::forge::ForgeKind::Github.most_bytes())).text);
        return Ok(Exit::OK);
    }
    let given = crate::forge::Given { number: args.pr, ..args.forge.given() };
    let target = Target::resolve(&given, surroundings.clone(), &context.env).map_err(with_dry_run)?;
    let thread = CommentThread::open(&target, &context.env, (context.clock, &context.interrupts));
    let thread = thread.map_err(with_dry_run)?;
    let head = thread.head().await?.or_else(|| surroundings.head.clone());
    let comment = gathered.comment(&surroundings, head, &moved_on, context).await;
    publish(&thread, &comment, target.most_bytes(), context).await
}

async fn publish(
    thread: &CommentThread,
    comment: &PlanComment,
    most: usize,
    context: &Context,
) -> Result<Exit> {
    let body = comment.body(most);
    let published = match comment.stacks.is_empty() {
        // What a former commit did may stand there; where nothing does, there is nothing to say.
        true => thread.renew(&comment.mark(), &body.text).await?,
        false => Some(thread.publish(&comment.mark(), &body.text).await?),
    };
    let Some(published) = published else {
        context.terminal.note("no stack was planned, and no comment tells of any: none was made");
        return Ok(Exit::OK);
    };
    let what = if published.updated { "updated the comment" } else { "made a comment" };
    let address = published.address.map(|address| format!(": {address}")).unwrap_or_default();
    context.terminal.note(&format!("{what}{address}"));
    if body.is_cut {
        context.terminal.note("it is cut, as it says; the whole plans: `--out-dir DIR`");
    }
    Ok(Exit::OK)
}

/// Adds what is always possible where something is missing.
fn with_dry_run(error: crate::error::Error) -> crate::error::Error {
    match error.kind() {
        Kind::Invalid | Kind::Refused => error.hint("see what would be said: `infra comment --dry-run`"),
        _ => error,
    }
}
