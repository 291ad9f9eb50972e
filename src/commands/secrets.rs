//! `infra secrets`: encrypted files, outside of any project too.
//!
//! Each command is a file below; what they share is here: the flags that name keys, the
//! keyring made of them, and questions that Ctrl-C can end. [`secret_file`] is the file they
//! work on. Nothing here shows a decrypted value but `view`, and that only once all of it is
//! verified.

mod decrypt;
mod edit;
mod editor;
mod encrypt;
mod exec;
mod keygen;
mod rotate;
mod secret_file;
mod set;
mod unset;
mod updatekeys;
mod view;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::commands::{Context, trust};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::SecretsSettings;
use crate::project;
use crate::report::{Asking, Tone, confirm, passphrase_prompt};
use crate::secrets::sops::Format;
use crate::secrets::{KeyPlaces, Keyring};

/// View, edit and make encrypted files: SOPS with age, and Ansible Vault
///
/// Examples:
///   infra secrets view secrets.sops.yaml
///   infra secrets edit secrets.sops.yaml
///   infra secrets set secrets.sops.yaml '["proxmox"]["token"]' '"s3cret"'
///   infra secrets encrypt group_vars/all/vault.yml --vault
///   infra secrets keygen --output ~/.config/sops/age/keys.txt
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct SecretsArgs {
    #[command(subcommand)]
    command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
enum SecretsCommand {
    View(view::ViewArgs),
    Edit(edit::EditArgs),
    Set(set::SetArgs),
    Unset(unset::UnsetArgs),
    Encrypt(encrypt::EncryptArgs),
    Decrypt(decrypt::DecryptArgs),
    Rotate(rotate::RotateArgs),
    Updatekeys(updatekeys::UpdatekeysArgs),
    Keygen(keygen::KeygenArgs),
    Exec(exec::ExecArgs),
}

/// The file, and with which keys it is opened.
#[derive(Args, Debug)]
struct FileArgs {
    /// The file
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    #[command(flatten)]
    keys: KeyArgs,
}

/// Flags that say how a file is opened.
#[derive(Args, Debug)]
#[command(next_help_heading = "Keys and formats")]
struct KeyArgs {
    /// Read the file as this, whatever its name says
    #[arg(long, value_name = "TYPE", value_parser = format_names())]
    input_type: Option<String>,
    /// An Ansible Vault password: LABEL@FILE, or LABEL@prompt
    #[arg(long, value_name = "ID")]
    vault_id: Vec<String>,
    /// A file that holds or prints an Ansible Vault password
    #[arg(long, value_name = "PASSWORD_FILE")]
    vault_password_file: Vec<PathBuf>,
}

/// Runs the command.
pub async fn run(args: &SecretsArgs, context: &Context) -> Result<Exit> {
    match &args.command {
        SecretsCommand::View(args) => view::run(args, context).await,
        SecretsCommand::Edit(args) => edit::run(args, context).await,
        SecretsCommand::Set(args) => set::run(args, context).await,
        SecretsCommand::Unset(args) => unset::run(args, context).await,
        SecretsCommand::Encrypt(args) => encrypt::run(args, context).await,
        SecretsCommand::Decrypt(args) => decrypt::run(args, context).await,
        SecretsCommand::Rotate(args) => rotate::run(args, context).await,
        SecretsCommand::Updatekeys(args) => updatekeys::run(args, context).await,
        SecretsCommand::Keygen(args) => keygen::run(args, context),
        SecretsCommand::Exec(args) => exec::run(args, context).await,
    }
}

impl KeyArgs {
    /// Returns the format that the flag names.
    fn format(&self) -> Option<Format> {
        self.input_type.as_deref().and_then(Format::parse)
    }
}

fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
}

/// Collects the keys of this person and of the project around the working folder, and hands them on.
async fn with_keyring<T>(
    args: &KeyArgs,
    context: &Context,
    work: impl AsyncFnOnce(&Keyring<'_>) -> Result<T>,
) -> Result<T> {
    let project = project::find_root(&context.cwd).ok();
    let settings = project_settings(project.as_ref(), context);
    let prompt = passphrase_prompt(context.asking());
    let trust = trust::key_trust(project.as_deref().unwrap_or(&context.cwd), &settings, context);
    let places = KeyPlaces {
        env: &context.env,
        dir: &context.cwd,
        project: project.as_deref(),
        settings: &settings,
        vault_ids: &args.vault_id,
        password_files: &args.vault_password_file,
        trust,
        interrupts: &context.interrupts,
    };
    let keyring = Keyring::load(places, &prompt).await;
    for key in keyring.identities().exposed() {
        let path = key.path.display();
        warn(context, &format!("others can read the key `{path}` (mode {:o}): `chmod 600 {path}`", key.mode));
    }
    work(&keyring).await
}

/// Returns what `infra.yaml` says of keys; one that is broken is no reason to lock a person out.
fn project_settings(root: Option<&PathBuf>, context: &Context) -> SecretsSettings {
    match root.map(|root| project::load(root)) {
        None => SecretsSettings::default(),
        Some(Ok(project)) => project.secrets,
        Some(Err(error)) => {
            warn(context, &format!("the keys that `infra.yaml` names are left out: {}", error.message()));
            SecretsSettings::default()
        }
    }
}

fn warn(context: &Context, text: &str) {
    context.terminal.note(&format!("{}: {text}", context.terminal.paint(Tone::Warn, "warning")));
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Kind::Refused, message)
}

/// Asks for a yes; nobody there is an error of the command line, since a flag could have said it.
async fn ask(question: &str, way_out: &str, context: &Context) -> Result<bool> {
    match context.asking() {
        Asking::Person(_) => agrees(question, context).await,
        Asking::Nobody => {
            Err(Error::usage("this has to be asked, but there is no terminal").hint(way_out.to_owned()))
        }
    }
}

/// Asks for a yes where there is a person; nobody says no.
async fn agrees(question: &str, context: &Context) -> Result<bool> {
    let Asking::Person(terminal) = context.asking() else { return Ok(false) };
    let mut interrupts = context.interrupts.clone();
    let before = interrupts.count();
    tokio::select! {
        yes = confirm(&terminal, question) => Ok(yes),
        _ = interrupts.beyond(before) => Err(Error::interrupted("stopped at a question; nothing was changed")),
    }
}
