//! `infra secrets rotate`.

use clap::Args;

use super::FileArgs;
use super::secret_file::SecretFile;
use crate::commands::Context;
use crate::error::{Exit, Result};
use crate::secrets::OpenedFile;
use crate::secrets::sops::RecipientChange;

/// Encrypt everything in a file anew, with a new data key
///
/// Recipients stay but for those that are added or removed. An Ansible Vault keeps its password
/// and its label and gets a new salt.
///
/// Examples:
///   infra secrets rotate secrets.sops.yaml
///   infra secrets rotate --rm-age age1old… --add-age age1new… secrets.sops.yaml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct RotateArgs {
    #[command(flatten)]
    file: FileArgs,
    /// A recipient to add
    #[arg(long, value_name = "RECIPIENT", value_delimiter = ',')]
    add_age: Vec<String>,
    /// A recipient to remove
    #[arg(long, value_name = "RECIPIENT", value_delimiter = ',')]
    rm_age: Vec<String>,
}

/// Runs the command.
pub(super) async fn run(args: &RotateArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let change = RecipientChange { add: args.add_age.clone(), remove: args.rm_age.clone() };
    if !(change.add.is_empty() && change.remove.is_empty()) {
        file.refuse_vault()?;
    }
    let rotated = match file.open(&args.file.keys, context).await? {
        OpenedFile::Sops(file) => file.rotated(&change, context.clock.now())?,
        OpenedFile::Vault(opened) => opened.seal(opened.plaintext())?,
    };
    file.write(&rotated)?;
    context.terminal.note(&format!("encrypted `{}` anew", file.name()));
    Ok(Exit::OK)
}
