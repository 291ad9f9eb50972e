//! `infra secrets set`.

use std::io::Read as _;

use clap::Args;
use zeroize::Zeroizing;

use super::secret_file::SecretFile;
use super::{FileArgs, refused};
use crate::commands::Context;
use crate::error::{Error, Exit, Result};
use crate::secrets::sops::TreePath;

/// Put one value into a SOPS file; the rest of it stays as it is
///
/// A value on the command line can be seen by others while the command runs; `--stdin` cannot.
///
/// Examples:
///   infra secrets set secrets.sops.yaml '["proxmox"]["token"]' '"s3cret"'
///   infra secrets set secrets.sops.yaml '["ports"][0]' 8006
///   pwgen | jq -R . | infra secrets set secrets.sops.yaml '["password"]' --stdin
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct SetArgs {
    #[command(flatten)]
    file: FileArgs,
    /// The place: names and indices, as in `["a"]["b"][0]`; missing maps are created
    #[arg(value_name = "PATH")]
    path: TreePath,
    /// The value, as JSON: a text needs quotes
    #[arg(
        value_name = "VALUE",
        required_unless_present = "stdin",
        conflicts_with = "stdin",
        allow_hyphen_values = true
    )]
    value: Option<String>,
    /// Read the value from stdin
    #[arg(long)]
    stdin: bool,
}

/// Runs the command.
pub(super) async fn run(args: &SetArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    let opened = file.open_sops(&args.file.keys, context).await?;
    let value = match &args.value {
        Some(value) => Zeroizing::new(value.clone()),
        None => read_stdin(context).await?,
    };
    match opened.set(&args.path, &value, context.clock.now())? {
        Some(bytes) => file.write_edit(&bytes, context)?,
        None => context.terminal.note(&format!("`{}` has this value already", file.name())),
    }
    Ok(Exit::OK)
}

/// Reads a value on a thread of its own, so that Ctrl-C is still heard.
async fn read_stdin(context: &Context) -> Result<Zeroizing<String>> {
    let reading = tokio::task::spawn_blocking(|| {
        let mut text = Zeroizing::new(String::new());
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    });
    let mut interrupts = context.interrupts.clone();
    let read = tokio::select! {
        read = reading => read,
        _ = interrupts.beyond(0) => return Err(Error::interrupted("stopped; nothing was changed")),
    };
    match read {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(refused("cannot read the value from stdin").because(error)),
        Err(error) => Err(Error::bug("reading stdin broke off").because(error)),
    }
}
