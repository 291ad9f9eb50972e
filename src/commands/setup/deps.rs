//! `infra deps`.

mod asking;
mod outdated;
mod outdated_json;
mod outdated_text;
mod taking;

use clap::{Args, Subcommand};
use serde_json::json;

use self::outdated::OutdatedArgs;
use crate::commands::{Context, trust};
use crate::error::{Exit, Result};
use crate::model::{Project, TofuSettings};
use crate::project;
use crate::report::{InstallProgress, Tone};
use crate::tofu;
use crate::tofu::{LocateRequest, Progress, ReleaseSource, Tofu};

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
    let request = request(&project.root, &project.tofu, &source, context);
    match args.command.unwrap_or(DepsCommand::List) {
        DepsCommand::List => list(&request, args.json, context).await,
        DepsCommand::Install => {
            let tofu = locate(&request, context).await?;
            show(Some(&tofu), &request, args.json, context)
        }
        DepsCommand::Outdated(outdated) => outdated::run(&outdated, &request, args.json, context).await,
    }
}

/// Returns the project's tofu; gets it first where it is missing.
pub async fn ensure(project: &Project, context: &Context) -> Result<Tofu> {
    let source = ReleaseSource::official(&context.env);
    locate(&request(&project.root, &project.tofu, &source, context), context).await
}

/// Returns the project's tofu if it is there.
pub async fn find(project: &Project, context: &Context) -> Result<tofu::Search> {
    let source = ReleaseSource::official(&context.env);
    tofu::search(&request(&project.root, &project.tofu, &source, context)).await
}

/// Outside of a project the built-in version counts.
fn project_here(context: &Context) -> Result<Project> {
    match project::find_root(&context.cwd) {
        Ok(root) => project::load(&root),
        Err(_) => Ok(Project { root: context.cwd.clone(), ..Project::default() }),
    }
}

const fn request<'a>(
    root: &'a std::path::Path,
    settings: &'a TofuSettings,
    source: &'a ReleaseSource,
    context: &'a Context,
) -> LocateRequest<'a> {
    LocateRequest {
        root,
        settings,
        env: &context.env,
        source,
        clock: context.clock,
        interrupts: &context.interrupts,
    }
}

async fn locate(request: &LocateRequest<'_>, context: &Context) -> Result<Tofu> {
    let progress = InstallProgress::new(context.terminal);
    tofu::locate(request, &|step| tell(&progress, &step)).await
}

/// Puts a step into words.
fn tell(progress: &InstallProgress, step: &Progress) {
    match step {
        Progress::PassedOver(other) => {
            progress.keep("·", Tone::Dim, &format!("not used: {}: {}", other.path.display(), other.why));
        }
        Progress::Waiting { version } => {
            progress.show(format!("waiting for another run that installs tofu {version}"));
        }
        Progress::Downloading { name, done, total } => {
            progress.show(format!("downloading {name}: {}", amount(*done, *total)));
        }
        Progress::Verifying { name } => progress.show(format!("verifying {name}")),
        Progress::Unreachable { why } => {
            progress.keep(
                "·",
                Tone::Dim,
                &format!("the release cannot be fetched ({why}); building tofu with Go instead"),
            );
        }
        Progress::Building { version, line } => {
            let last = line.as_ref().map(|line| format!(": {line}")).unwrap_or_default();
            progress.show(format!("building tofu {version}, which takes some minutes{last}"));
        }
        Progress::Installed { path, version } => {
            progress.keep("✓", Tone::Good, &format!("tofu {version} installed at {}", path.display()));
        }
    }
}

fn amount(done: u64, total: Option<u64>) -> String {
    let mebibytes = |bytes: u64| format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20);
    match total {
        Some(total) => format!("{} of {}", mebibytes(done), mebibytes(total)),
        None => mebibytes(done),
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
