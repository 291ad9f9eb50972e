//! `infra deps`.

mod asking;
mod outdated;
mod outdated_args;
mod outdated_json;
mod outdated_text;
mod surveyed;
mod taking;

use clap::{Args, Subcommand};
use serde_json::json;

use self::outdated_args::OutdatedArgs;
use crate::commands::loaded_project::{installed_tofu, tofu_request};
use crate::commands::{Context, trust};
use crate::error::{Exit, Result};
use crate::model::Project;
use crate::project;
use crate::tofu;
use crate::tofu::{LocateRequest, ReleaseSource, Tofu};

/// Find, install or update the tofu, the providers and the modules this project uses
///
/// tofu: looks at `tofu.binary`, PATH and the cache; then downloads the official release and
/// verifies it, or builds it with Go where the release cannot be reached.
///
/// Examples:
///   infra deps                      which tofu is used
///   infra deps install              get it now
///   infra deps outdated             newer tofu, providers and modules
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DepsArgs {
    #[command(subcommand)]
    command: Option<DepsCommand>,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum DepsCommand {
    /// Show which tofu is used and where it comes from
    List,
    /// Install the tofu this project needs
    Install,
    /// Tell what is newer: tofu, providers, modules
    ///
    /// Asks whoever tofu would ask, with its settings, mirrors and tokens. Exit code 1 if anything is
    /// newer, 69 if something is not known.
    ///
    /// Examples:
    ///   infra deps outdated                     minor and major updates, apart
    ///   infra deps outdated --write             edit the constraints for the minor ones
    ///   infra deps outdated --write pihole      try the major ones in one stack first
    #[command(verbatim_doc_comment)]
    Outdated(OutdatedArgs),
}

/// Runs the command.
pub async fn run(args: DepsArgs, context: &Context) -> Result<Exit> {
    let project = project_here(context)?;
    // Even its version is told by running it.
    trust::require(&project, trust::binary_items(&project, &context.env)?, context).await?;
    let source = ReleaseSource::official(&context.env);
    let request = tofu_request(&project, &source, context);
    match args.command.unwrap_or(DepsCommand::List) {
        DepsCommand::List => list(&request, args.json, context).await,
        DepsCommand::Install => {
            let tofu = installed_tofu(&project, context).await?;
            show(Some(&tofu), &request, args.json, context)
        }
        DepsCommand::Outdated(outdated) => outdated::run(&outdated, &request, args.json, context).await,
    }
}

/// Outside of a project the built-in version counts.
fn project_here(context: &Context) -> Result<Project> {
    match project::find_root(&context.cwd) {
        Ok(root) => project::load(&root),
        Err(_) => Ok(Project { root: context.cwd.clone(), ..Project::default() }),
    }
}

async fn list(request: &LocateRequest<'_>, as_json: bool, context: &Context) -> Result<Exit> {
    let search = tofu::search(request).await?;
    for other in &search.passed_over {
        context.terminal.note(&format!("not used: {}: {}", other.path.display(), other.why));
    }
    show(search.found.as_ref(), request, as_json, context)
}

fn show(tofu: Option<&Tofu>, request: &LocateRequest<'_>, as_json: bool, context: &Context) -> Result<Exit> {
    let wanted = request
        .settings
        .version
        .clone()
        .unwrap_or_else(|| format!(">= {}, installed as {}", tofu::FLOOR, tofu::PIN));
    if as_json {
        let receipt = tofu.and_then(tofu::receipt);
        let row = json!([{
            "name": "tofu",
            "wanted": wanted,
            "version": tofu.map(|tofu| tofu.version.to_string()),
            "path": tofu.map(|tofu| &tofu.path),
            "source": tofu.map(|tofu| tofu.source.name()),
            "installed_from": receipt.as_ref().map(|receipt| receipt.source),
            "sha256": receipt.as_ref().map(|receipt| &receipt.sha256),
        }]);
        context.terminal.data_line(&serde_json::to_string_pretty(&row).unwrap_or_default());
        return Ok(Exit::OK);
    }
    match tofu {
        Some(tofu) => context.terminal.data_line(&format!(
            "tofu {}  {}  ({})",
            tofu.version,
            tofu.path.display(),
            tofu.source.name()
        )),
        None => context
            .terminal
            .data_line(&format!("tofu is not installed (wanted: {wanted}); `infra deps install` gets it")),
    }
    Ok(Exit::OK)
}
