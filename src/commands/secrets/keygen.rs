//! `infra secrets keygen`.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::refused;
use crate::atomic_file::create_private_dir;
use crate::commands::Context;
use crate::error::{Exit, Result, io};
use crate::secrets::identities::FreshKey;

/// Make an age key
///
/// Its public half goes into `.sops.yaml`; the key itself stays with you.
///
/// Examples:
///   infra secrets keygen --output ~/.config/sops/age/keys.txt
///   infra secrets keygen --output age.key
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct KeygenArgs {
    /// Write the key here, closed to others, and print only its public half; never overwrites
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &KeygenArgs, context: &Context) -> Result<Exit> {
    let key = FreshKey::generate(context.clock.now());
    match &args.output {
        None => context.terminal.data(&key.text),
        Some(name) => {
            write_new(name, &context.cwd.join(name), &key)?;
            context.terminal.data_line(&key.recipient);
            context
                .terminal
                .note(&format!("wrote the key to `{}`; above is its public half", name.display()));
        }
    }
    Ok(Exit::OK)
}

fn write_new(name: &Path, path: &Path, key: &FreshKey) -> Result<()> {
    if let Some(dir) = path.parent() {
        create_private_dir(dir)?;
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match file {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(refused(format!(
                "`{}` is there already; a key is never overwritten",
                name.display()
            ))
            .hint("choose another name, or move it away first"));
        }
        file => file.map_err(io("write", name))?,
    };
    file.write_all(key.text.as_bytes()).and_then(|()| file.sync_all()).map_err(io("write", name))
}
