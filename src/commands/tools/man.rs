//! `infra man`.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::commands::Context;
use crate::error::{Exit, Result, io};

/// Print the man page, or write one for each command
///
/// Examples:
///   infra man | man -l -
///   infra man --dir ~/.local/share/man/man1
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ManArgs {
    /// Write all pages into this folder
    #[arg(long, value_name = "D")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ManArgs, context: &Context) -> Result<Exit> {
    let mut command = (context.definition)();
    command.build();
    match &args.dir {
        None => context.terminal.data(&page(&command)),
        Some(dir) => write_pages(command, &context.cwd.join(dir))?,
    }
    Ok(Exit::OK)
}

fn page(command: &clap::Command) -> String {
    let mut text = Vec::new();
    // Writing into memory does not fail.
    let _ = clap_mangen::Man::new(command.clone()).render(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn write_pages(command: clap::Command, dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(io("create", dir))?;
    clap_mangen::generate_to(command, dir).map_err(io("write man pages into", dir))
}
