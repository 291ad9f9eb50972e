//! `infra ci`: the workflows of a forge, from plan on review to apply on merge.

mod place;
mod rendering;
mod workflows;

use clap::{Args, Subcommand};

use self::place::WorkflowPlace;
use crate::commands::Context;
use crate::commands::loaded_project::LoadedProject;
use crate::error::{Error, Exit, Kind, Result, io};
use crate::model::counted;

pub(in crate::commands) use self::rendering::Rendering;
pub(in crate::commands) use self::workflows::{Forge, Layout, WorkflowFile, workflows};

/// Make the workflows of a forge
///
/// Examples:
///   infra ci init github          .github/workflows: plan on review, apply on merge, drift at night
///   infra ci init gitlab          .gitlab-ci.yml
///   infra ci init forgejo         .forgejo/workflows
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, subcommand_required = true, arg_required_else_help = true)]
pub struct CiArgs {
    #[command(subcommand)]
    command: CiCommand,
}

/// What can be done.
#[derive(Debug, Subcommand)]
enum CiCommand {
    Init(InitArgs),
}

/// Write the workflows: plan on review, apply on merge, drift at night
///
/// A pull request plans only the stacks that it touches; the plans wait encrypted, and the merge applies
/// exactly these. A file that is there and differs is left alone, and the command refuses.
///
/// Examples:
///   infra ci init github
///   infra ci init gitlab
///   infra ci init forgejo --branch trunk       what is merged lands on another branch than main
///   infra ci init github --force               overwrite what was edited
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
struct InitArgs {
    /// The forge
    #[arg(value_name = "FORGE")]
    forge: Forge,
    /// The branch that pull requests are merged into [default: the one that origin names, else main]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Overwrite files that differ
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub async fn run(args: CiArgs, context: &Context) -> Result<Exit> {
    match args.command {
        CiCommand::Init(args) => init(&args, context).await,
    }
}

async fn init(args: &InitArgs, context: &Context) -> Result<Exit> {
    let project = LoadedProject::load(context)?.project;
    let place = WorkflowPlace::of(&project.root, context);
    let branch = match &args.branch {
        Some(branch) => place::checked_branch(branch)?,
        None => place.default_branch(),
    };
    let rendering = Rendering::of(&project, &place).await?;
    let layout = Layout { branch: &branch, folder: &place.folder, rendering };
    let files = workflows(args.forge, &layout);
    if !args.force {
        check_free(&place, &files)?;
    }
    for file in &files {
        place.check_inside(file.path)?;
    }
    for file in &files {
        write(&place, file)?;
    }
    tell(&place, &files, args.forge, context);
    Ok(Exit::OK)
}

/// Refuses to overwrite what somebody edited, all of it before the first file is written.
fn check_free(place: &WorkflowPlace, files: &[WorkflowFile]) -> Result<()> {
    let differs = |file: &&WorkflowFile| match std::fs::read(place.top.join(file.path)) {
        Ok(bytes) => bytes != file.text.as_bytes(),
        Err(_) => place.top.join(file.path).symlink_metadata().is_ok(),
    };
    let Some(file) = files.iter().find(differs) else { return Ok(()) };
    Err(Error::new(Kind::Failed, format!("`{}` is there and differs", file.path))
        .detail("nothing was written")
        .hint("overwrite it: add `--force`; git shows what that changes"))
}

fn write(place: &WorkflowPlace, file: &WorkflowFile) -> Result<()> {
    let path = place.top.join(file.path);
    let dir = path.parent().unwrap_or(&place.top);
    std::fs::create_dir_all(dir).map_err(io("create", dir))?;
    crate::atomic_file::replace(&path, file.text.as_bytes())
}

fn tell(place: &WorkflowPlace, files: &[WorkflowFile], forge: Forge, context: &Context) {
    let terminal = &context.terminal;
    terminal.note(&format!("wrote {} below `{}`", counted(files.len(), "file"), place.top.display()));
    for file in files {
        terminal.note(&format!("  {}", file.path));
    }
    terminal.note("next:");
    for step in forge.next_steps() {
        terminal.note(&format!("  {step}"));
    }
}
