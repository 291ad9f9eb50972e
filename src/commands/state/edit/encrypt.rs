//! `infra state encrypt`.

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::commands::Context;
use crate::commands::args::{OUTPUT, StackArgs};
use crate::commands::loaded_project::{LoadedProject, Purpose};
use crate::engine;
use crate::engine::{
    NEXT_PASSPHRASE, NewPassphrase, PASSPHRASE, PassphraseMove, Rewrite, RewriteOutcome, Session,
};
use crate::error::{Error, Exit, Result, io};
use crate::model::StackId;
use crate::report::Asking;

/// Encrypt the state of stacks, or give it a new passphrase
///
/// The passphrase is `state_encryption_passphrase` in the secrets of a stack. No resource is
/// touched and no provider is asked; what is encrypted already stays as it is. Older versions
/// that a backend keeps are history and are not rewritten.
///
/// Examples:
///   infra state encrypt k8s-prod
///   infra state encrypt --all --yes
///   infra state encrypt --all --rotate-to state_encryption_passphrase_next
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct EncryptArgs {
    #[command(flatten)]
    stacks: StackArgs,
    /// Encrypt with a new passphrase: `state_encryption_passphrase_next` in the secrets, or a file
    /// that holds it
    #[arg(long, value_name = "FILE_OR_KEY", value_hint = clap::ValueHint::FilePath)]
    rotate_to: Option<String>,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Print what became of each state as JSON
    #[arg(long, help_heading = OUTPUT)]
    json: bool,
}

/// Runs the command.
pub async fn run(args: &EncryptArgs, context: &Context) -> Result<Exit> {
    let loaded = LoadedProject::load_for(context, &args.stacks).await?;
    let chosen = loaded.choose(&args.stacks, context)?;
    let new = new_passphrase(args.rotate_to.as_deref(), context)?;
    let done = loaded
        .with_session(context, Purpose::states_of(&chosen), async |session| {
            engine::require_states(session, &chosen).await?;
            let rewrites = engine::resolve_rewrites(session, &chosen, &new)?;
            ask(&chosen, args, context).await?;
            rewrite_all(session, rewrites, context).await
        })
        .await?;
    if args.json {
        let all: Map<String, Value> = done
            .iter()
            .map(|(rewrite, outcome)| (rewrite.stack.to_string(), key_of(*outcome).into()))
            .collect();
        context.terminal.data_line(&serde_json::to_string_pretty(&all).unwrap_or_default());
    }
    tell_next_steps(&done, args.rotate_to.as_deref(), context);
    Ok(Exit::OK)
}

/// Reads what `--rotate-to` names: the key in the secrets, or a file.
fn new_passphrase(named: Option<&str>, context: &Context) -> Result<NewPassphrase> {
    match named {
        None => Ok(NewPassphrase::InUse),
        Some(NEXT_PASSPHRASE) => Ok(NewPassphrase::Next),
        Some(file) => read_passphrase(file, &context.cwd.join(file)),
    }
}

fn read_passphrase(named: &str, path: &Path) -> Result<NewPassphrase> {
    if !path.exists() {
        return Err(Error::usage(format!("`--rotate-to {named}` names no file and no passphrase"))
            .hint(format!("the key in the secrets is `{NEXT_PASSPHRASE}`")));
    }
    let text = Zeroizing::new(std::fs::read_to_string(path).map_err(io("read", path))?);
    Ok(NewPassphrase::Given(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())))
}

async fn ask(chosen: &[StackId], args: &EncryptArgs, context: &Context) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let Asking::Person(terminal) = context.asking() else {
        return Err(
            Error::usage("`state encrypt` has to ask, but there is no terminal").hint("say yes: `--yes`")
        );
    };
    let question = match chosen {
        [one] => format!("Encrypt the state of `{one}`?"),
        several => format!("Encrypt the states of {} stacks?", several.len()),
    };
    context.require_yes(&terminal, &question, "the states were left as they are").await
}

/// Rewrites one state after the other; what is done is told at once, and need not be done again.
async fn rewrite_all(
    session: &Session,
    rewrites: Vec<Rewrite>,
    context: &Context,
) -> Result<Vec<(Rewrite, RewriteOutcome)>> {
    let mut done = Vec::new();
    for rewrite in rewrites {
        let outcome = engine::rewrite_state(session, &rewrite).await?;
        context.terminal.note(&format!("{}  {}", rewrite.stack, words_for(outcome)));
        done.push((rewrite, outcome));
    }
    Ok(done)
}

const fn words_for(outcome: RewriteOutcome) -> &'static str {
    match outcome {
        RewriteOutcome::Encrypted => "encrypted",
        RewriteOutcome::AlreadyEncrypted => "already encrypted",
        RewriteOutcome::NoState => "has no state",
    }
}

const fn key_of(outcome: RewriteOutcome) -> &'static str {
    match outcome {
        RewriteOutcome::Encrypted => "encrypted",
        RewriteOutcome::AlreadyEncrypted => "already_encrypted",
        RewriteOutcome::NoState => "no_state",
    }
}

fn tell_next_steps(done: &[(Rewrite, RewriteOutcome)], named: Option<&str>, context: &Context) {
    if done.iter().any(|(_, outcome)| *outcome == RewriteOutcome::Encrypted) {
        context.terminal.note("versions that the backend keeps from before are history, and as they were");
    }
    let mut moves: Vec<&PassphraseMove> = Vec::new();
    for follow_up in done.iter().filter_map(|(rewrite, _)| rewrite.follow_up.as_ref()) {
        if !moves.contains(&follow_up) {
            moves.push(follow_up);
        }
    }
    let Some(named) = named.filter(|_| !moves.is_empty()) else { return };
    context.terminal.note(&format!(
        "\nOnce every stack that shares the passphrase is rotated, make it `{PASSPHRASE}`; until then runs use the old one:"
    ));
    for command in moves.iter().flat_map(|follow_up| commands_for(follow_up, named, &context.cwd)) {
        context.terminal.note(&format!("  {command}"));
    }
}

/// Returns the commands that put a new passphrase into its place.
fn commands_for(follow_up: &PassphraseMove, named: &str, cwd: &Path) -> Vec<String> {
    let to = shell_path(&follow_up.to, cwd);
    let set = format!("infra secrets set {to} '[\"{PASSPHRASE}\"]' --stdin");
    match &follow_up.from {
        None if takes_values(&follow_up.to) => {
            vec![format!("jq -R . {} | {set}", shell_path(&cwd.join(named), cwd))]
        }
        Some(from) if takes_values(&follow_up.to) && takes_values(from) => {
            let from = shell_path(from, cwd);
            vec![
                format!("infra secrets view --json {from} | jq .{NEXT_PASSPHRASE} | {set}"),
                format!("infra secrets unset {from} '[\"{NEXT_PASSPHRASE}\"]'"),
            ]
        }
        // Only an editor can change one value of a vault or of a file of variables.
        _ => vec![format!("infra secrets edit {to}")],
    }
}

/// Returns whether `infra secrets set` works on a file: one with names, and no Ansible Vault.
fn takes_values(file: &Path) -> bool {
    let names = ["yaml", "yml", "json"].map(std::ffi::OsStr::new);
    let vault = std::fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"$ANSIBLE_VAULT;"));
    file.extension().is_some_and(|ending| names.contains(&ending)) && !vault
}

/// Returns a path as a person would type it in the working folder.
fn shell_path(path: &Path, cwd: &Path) -> String {
    let text = path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./@+,:=".contains(sign);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(from: Option<&str>, to: &str) -> Vec<String> {
        let follow_up = PassphraseMove { from: from.map(Into::into), to: to.into() };
        commands_for(&follow_up, "/run/new passphrase", Path::new("/lab"))
    }

    #[test]
    fn a_next_passphrase_is_moved_through_a_pipe_and_taken_away() {
        let file = "/lab/secrets.sops.yaml";

        let commands = commands(Some(file), file);

        assert_eq!(
            commands,
            [
                "infra secrets view --json secrets.sops.yaml | jq .state_encryption_passphrase_next | infra secrets set secrets.sops.yaml '[\"state_encryption_passphrase\"]' --stdin",
                "infra secrets unset secrets.sops.yaml '[\"state_encryption_passphrase_next\"]'",
            ]
        );
    }

    #[test]
    fn a_passphrase_from_a_file_is_quoted_for_the_shell() {
        let commands = commands(None, "/lab/secrets.sops.yaml");

        assert!(
            commands[0].starts_with("jq -R . '/run/new passphrase' | infra secrets set "),
            "{commands:?}"
        );
    }

    #[test]
    fn a_file_of_variables_needs_the_editor() {
        let file = "/lab/secrets.tfvars";

        assert_eq!(commands(Some(file), file), ["infra secrets edit secrets.tfvars"]);
    }
}
