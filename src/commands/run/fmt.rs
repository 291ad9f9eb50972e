//! `infra fmt`.

use clap::Args;

use crate::commands::Context;
use crate::commands::args::StackArgs;
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::error::{Exit, Kind, Result};
use crate::tofu::call::FmtMode;

/// Format the files of stacks and of the local modules they use
///
/// Examples:
///   infra fmt --all
///   infra fmt --all --check         exit code 1 and a diff when something is not formatted
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct FmtArgs {
    #[command(flatten)]
    stacks: StackArgs,
    /// Change nothing; show what would change
    #[arg(long)]
    check: bool,
}

/// Runs the command.
pub async fn run(args: &FmtArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = loaded.choose_to_read(&args.stacks, context)?;
    let mode = if args.check { FmtMode::Check } else { FmtMode::Write };
    let formatted = loaded
        // Whatever a stack brings to run, formatting runs none of it.
        .with_session(context, Purpose::files_of(&[]), async |session| {
            engine::format_files(session, &chosen, mode).await
        })
        .await?;
    context.terminal.text(&formatted.text);
    match (mode, formatted.clean) {
        (FmtMode::Check, false) => {
            context.terminal.note("some files are not formatted; `infra fmt` mends them");
            Ok(Kind::Failed.exit())
        }
        (FmtMode::Check, true) | (FmtMode::Write, _) => Ok(Exit::OK),
    }
}
