//! `infra secrets unset`.

use clap::Args;

use super::FileArgs;
use super::secret_file::SecretFile;
use crate::commands::Context;
use crate::error::{Exit, Result};
use crate::secrets::sops::TreePath;

/// Take one value out of a SOPS file; the rest of it stays as it is
///
/// Examples:
///   infra secrets unset secrets.sops.yaml '["proxmox"]["token"]'
///   infra secrets unset secrets.sops.yaml '["ports"][0]'
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct UnsetArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The place: names and indices, as in `["a"]["b"][0]`
    #[arg(value_name = "PATH")]
    path: TreePath,
}

/// Runs the command.
pub(super) async fn run(args: &UnsetArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let opened = file.open_sops(&args.file.keys, context).await?;
    if let Some(bytes) = opened.unset(&args.path, context.clock.now())? {
        file.write_edit(&bytes, context)?;
    }
    Ok(Exit::OK)
}
