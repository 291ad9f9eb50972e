//! `infra secrets updatekeys`.

use clap::Args;

use super::secret_file::SecretFile;
use super::{FileArgs, ask, with_keyring};
use crate::commands::Context;
use crate::error::{Error, Exit, Result};
use crate::report::Tone;
use crate::secrets::sops::creation_rules::CreationRule;
use crate::secrets::sops::{SopsFile, updated_keys};

/// Give a file the recipients that `.sops.yaml` names
///
/// Values stay as they are: only who can open the file changes. Whoever is removed may have kept
/// the old data key, so rotate afterwards, and change the secrets themselves.
///
/// Examples:
///   infra secrets updatekeys secrets.sops.yaml
///   infra secrets updatekeys --yes secrets.sops.yaml
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct UpdatekeysArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// A change that was worked out but not written.
struct Change {
    before: Vec<String>,
    bytes: Vec<u8>,
}

/// Runs the command.
pub(super) async fn run(args: &UpdatekeysArgs, context: &Context) -> Result<Exit> {
    let file = SecretFile::read(&args.file, context)?;
    file.refuse_vault()?;
    let rule = file.creation_rule(context)?;
    let Some(change) = work_out(&file, &rule, args, context).await? else {
        context.terminal.note(&format!("the keys of `{}` are up to date", file.name()));
        return Ok(Exit::OK);
    };
    describe(&file, &change, &rule, context);
    if !args.yes
        && !ask(&format!("Change who can open `{}`?", file.name()), "say yes: `--yes`", context).await?
    {
        return Err(Error::failed(format!("the keys of `{}` were left as they are", file.name())));
    }
    file.write(&change.bytes)?;
    context.terminal.note(&format!("updated the keys of `{}`", file.name()));
    Ok(Exit::OK)
}

async fn work_out(
    file: &SecretFile,
    rule: &CreationRule,
    args: &UpdatekeysArgs,
    context: &Context,
) -> Result<Option<Change>> {
    with_keyring(&args.file.keys, context, async |keyring| {
        let Some(bytes) = updated_keys(file.input(), rule, keyring.identities())? else { return Ok(None) };
        // Keys that were not verified with their file are not worth passing on.
        let opened = SopsFile::open(file.input(), keyring.identities())?;
        let before = opened.recipients().concat().into_iter().map(str::to_owned).collect();
        Ok(Some(Change { before, bytes }))
    })
    .await
}

fn describe(file: &SecretFile, change: &Change, rule: &CreationRule, context: &Context) {
    let terminal = context.terminal;
    let after: Vec<&String> = rule.groups.iter().flat_map(|group| &group.recipients).collect();
    terminal.note(&format!("who can open `{}`:", file.name()));
    for recipient in change.before.iter().filter(|recipient| !after.contains(recipient)) {
        terminal.note(&terminal.paint(Tone::Bad, &format!("  - {recipient}")));
    }
    for recipient in after {
        match change.before.contains(recipient) {
            true => terminal.note(&format!("    {recipient}")),
            false => terminal.note(&terminal.paint(Tone::Good, &format!("  + {recipient}"))),
        }
    }
    if rule.groups.len() > 1 {
        let needed = if rule.threshold == 0 { rule.groups.len() } else { rule.threshold };
        terminal.note(&format!("  in {} groups, of which {needed} are needed", rule.groups.len()));
    }
}
