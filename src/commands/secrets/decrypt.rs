//! `infra secrets decrypt`.

use clap::Args;

use super::secret_file::SecretFile;
use super::{FileArgs, refused};
use crate::commands::Context;
use crate::error::{Exit, Result};

/// Replace an encrypted file by its plaintext, if you insist
///
/// Plaintext on a disk is what encryption is meant to prevent: `infra secrets view` shows it
/// and `infra secrets edit` changes it without.
///
/// Examples:
///   infra secrets view secrets.sops.yaml
///   infra secrets decrypt --force-plaintext secrets.sops.yaml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct DecryptArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Write the plaintext to the disk
    #[arg(long)]
    force_plaintext: bool,
}

/// Runs the command.
pub(super) async fn run(args: &DecryptArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let name = file.name();
    if !args.force_plaintext {
        return Err(refused(format!("`{name}` would lie on the disk as plaintext"))
            .hint(format!("look at it: `infra secrets view {name}`"))
            .hint(format!("or insist: `infra secrets decrypt --force-plaintext {name}`")));
    }
    let opened = file.open(&args.file.keys, context).await?;
    file.write(&opened.plaintext()?)?;
    context
        .terminal
        .note(&format!("`{name}` is plaintext now; encrypt it again: `infra secrets encrypt {name}`"));
    Ok(Exit::OK)
}
