//! `infra secrets view`.

use clap::Args;

use super::FileArgs;
use super::secret_file::SecretFile;
use crate::commands::Context;
use crate::error::{Exit, Result};
use crate::secrets::sops::stores::to_json;

/// Print the plaintext of a file, exactly as sops or ansible-vault would
///
/// Examples:
///   infra secrets view secrets.sops.yaml
///   infra secrets view --json secrets.sops.yaml | jq -r .proxmox.token
///   infra secrets view --vault-password-file ~/.vault group_vars/all/vault.yml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ViewArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Print as one JSON object
    // Not called `json`: an error must leave stdout empty, or it could be taken for the content.
    #[arg(long = "json")]
    as_json: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ViewArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let opened = file.open(&args.file.keys, context).await?;
    if args.as_json {
        let json = to_json(&file.documents(&opened)?);
        context.terminal.data_line(&serde_json::to_string_pretty(&json).unwrap_or_default());
    } else {
        context.terminal.data_bytes(&opened.plaintext()?);
    }
    Ok(Exit::OK)
}
