//! `infra secrets encrypt`.

use std::path::Path;

use clap::Args;

use super::secret_file::SecretFile;
use super::{FileArgs, with_keyring};
use crate::commands::Context;
use crate::error::{Exit, Result};
use crate::secrets::sops::encrypt_new;

/// Encrypt a plain file in place, for whom `.sops.yaml` says
///
/// A file that is encrypted already stays as it is.
///
/// Examples:
///   infra secrets encrypt secrets.sops.yaml
///   infra secrets encrypt --stdout kubeconfig > kubeconfig.enc
///   infra secrets encrypt --vault --vault-id prod@prompt group_vars/all/vault.yml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct EncryptArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Print the encrypted file and leave the plain one alone
    #[arg(long)]
    stdout: bool,
    /// Make an Ansible Vault instead of a SOPS file
    #[arg(long)]
    vault: bool,
}

/// Runs the command.
pub(super) async fn run(args: &EncryptArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    if file.is_sealed() {
        context.terminal.note(&format!("`{}` is encrypted already", file.name()));
        if args.stdout {
            context.terminal.data_bytes(file.bytes());
        }
        return Ok(Exit::OK);
    }
    let sealed = seal(&file, args, context).await?;
    if args.stdout {
        context.terminal.data_bytes(&sealed);
    } else {
        file.write(&sealed)?;
        context.terminal.note(&format!("encrypted `{}`", file.name()));
    }
    Ok(Exit::OK)
}

async fn seal(file: &SecretFile, args: &EncryptArgs, context: &Context) -> Result<Vec<u8>> {
    if !args.vault {
        let rule = file.creation_rule(context)?;
        return encrypt_new(file.input(), &rule, context.clock.now());
    }
    with_keyring(&args.file.keys, context, async |keyring| {
        let passwords = keyring.passwords().await?;
        passwords.seal(Path::new(file.name()), file.bytes(), None, &|question| keyring.ask(question))
    })
    .await
}
