//! Passwords that were fetched from their sources, and vaults opened and made with them.
//!
//! Files are read and scripts run once, in [`Passwords::load`]; a person is asked only when
//! nothing else fits, and once for each label. A source that gives nothing is no failure as
//! long as another one fits: what went wrong stands in the error of the vault that stays shut.

use std::path::Path;
use std::sync::OnceLock;

use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::cipher;
use super::cipher::Rejected;
use super::envelope::{DEFAULT_LABEL, Envelope, Flaw, Header};
use super::is_vault;
use super::opened::Opened;
use super::password::Password;
use super::sources::{PasswordSource, VaultId};
use crate::error::{Error, Kind, Result};
use crate::model::Environment;
use crate::process::{Interrupts, Invocation, capture, is_executable};

/// Asks a person the given question with echo off; `None` if nobody can answer.
pub type Ask<'a> = &'a dyn Fn(&str) -> Option<Zeroizing<String>>;

/// What ends a script that does not know a label.
const LABEL_UNKNOWN: i32 = 2;

/// The passwords of a run.
#[derive(Debug)]
pub struct Passwords {
    entries: Vec<LabelledPassword>,
    /// `ANSIBLE_VAULT_ENCRYPT_IDENTITY`: the label for new vaults.
    encrypt_label: Option<String>,
}

/// One vault id and what came of it.
#[derive(Debug)]
struct LabelledPassword {
    id: VaultId,
    held: PasswordState,
}

/// What came of a source.
#[derive(Debug)]
enum PasswordState {
    Password(Password),
    Nothing { why: String },
    Asked(OnceLock<Option<Password>>),
}

impl Passwords {
    /// Fetches the passwords; a file that can be executed is run in `dir` and prints its own.
    pub async fn load(
        ids: Vec<VaultId>,
        env: &Environment,
        dir: &Path,
        interrupts: &Interrupts,
    ) -> Result<Self> {
        let encrypt_label = env.get("ANSIBLE_VAULT_ENCRYPT_IDENTITY").map(str::to_owned);
        let mut passwords = Self { entries: Vec::new(), encrypt_label };
        for id in ids {
            let held = match &id.source {
                PasswordSource::Variable { password, .. } => held(Password::from_text(password.as_bytes())),
                PasswordSource::File(path) if is_executable(path) => {
                    let captured = capture(call(path, &id, dir, env), interrupts).await;
                    if interrupts.any() {
                        return Err(Error::interrupted("stopped while a vault password was fetched"));
                    }
                    printed(captured)
                }
                PasswordSource::File(path) => passwords.read(path),
                PasswordSource::Withheld(_, why) => PasswordState::Nothing { why: (*why).to_owned() },
                PasswordSource::Prompt => PasswordState::Asked(OnceLock::new()),
            };
            passwords.entries.push(LabelledPassword { id, held });
        }
        Ok(passwords)
    }

    /// Opens a vault with the first password that fits; those of its label are tried first.
    pub fn open(&self, file: &Path, bytes: &[u8], ask: Ask<'_>) -> Result<Opened> {
        let sealed = Envelope::parse(bytes).map_err(|flaw| unreadable(file, &flaw))?;
        for entry in self.candidates(sealed.header.label()) {
            let Some(password) = entry.password(ask) else { continue };
            match cipher::open(password.bytes(), &sealed) {
                Ok(plaintext) => return Ok(Opened { plaintext, header: sealed.header, password }),
                Err(Rejected::Padding) => return Err(badly_padded(file)),
                Err(Rejected::Hmac) => {}
            }
        }
        Err(self.none_fits(file, &sealed.header))
    }

    /// Makes a vault from plaintext, under a label or the only one there is.
    pub fn seal(&self, file: &Path, plaintext: &[u8], label: Option<&str>, ask: Ask<'_>) -> Result<Vec<u8>> {
        if is_vault(plaintext) {
            return Err(refused(format!("`{}` is an Ansible Vault already", file.display())));
        }
        let label = self.label_to_seal(file, label)?;
        let password = self
            .entries
            .iter()
            .find_map(|entry| (entry.id.label() == label).then(|| entry.new_password(ask)).flatten());
        let password = password.ok_or_else(|| self.no_password(file, label))?;
        Ok(cipher::seal(password.bytes(), plaintext, Header::new(label))?.to_bytes())
    }

    /// Returns the entries in the order to try: the label's own first, people last.
    fn candidates(&self, label: &str) -> Vec<&LabelledPassword> {
        let mut entries: Vec<&LabelledPassword> = self.entries.iter().collect();
        entries
            .sort_by_key(|entry| (matches!(entry.held, PasswordState::Asked(_)), entry.id.label() != label));
        entries
    }

    fn label_to_seal<'a>(&'a self, file: &Path, wanted: Option<&'a str>) -> Result<&'a str> {
        let labels = || self.entries.iter().map(|entry| entry.id.label());
        let label = match wanted.or(self.encrypt_label.as_deref()) {
            Some(label) => label,
            None => {
                let first = labels().next().unwrap_or(DEFAULT_LABEL);
                if labels().any(|label| label != first) {
                    return Err(several(file, labels()));
                }
                first
            }
        };
        // Ansible takes a file for a vault only if all of it is ASCII, and `;` ends a label.
        let writable = label.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b';');
        if !writable || label.is_empty() || label.trim() != label {
            return Err(refused(format!("`{}` is no label for a vault", label.escape_debug()))
                .detail("expected printable ASCII without `;` and without blanks around it"));
        }
        Ok(label)
    }

    /// Reads a password file, which may itself be a vault that an earlier password opens.
    fn read(&self, path: &Path) -> PasswordState {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => Zeroizing::new(bytes),
            Err(error) => return PasswordState::Nothing { why: format!("cannot be read: {error}") },
        };
        if !is_vault(&bytes) {
            return held(Password::from_text(&bytes));
        }
        match self.open(path, &bytes, &|_| None) {
            Ok(opened) => held(Password::from_output(opened.plaintext())),
            Err(_) => PasswordState::Nothing { why: "is a vault that no earlier password opens".to_owned() },
        }
    }

    fn none_fits(&self, file: &Path, header: &Header) -> Error {
        let shown = file.display();
        let label = header.label().escape_debug().to_string();
        let error =
            refused(format!("cannot open `{shown}`: no vault password fits")).fact("label", label.clone());
        let error = self.tried(error);
        if self.entries.iter().any(|entry| matches!(entry.id.source, PasswordSource::Withheld(..))) {
            return error.hint("let this project use it: `infra trust`");
        }
        let have_one = self.entries.iter().any(LabelledPassword::has_password);
        match have_one {
            true => error
                .detail("either the password is another one, or the file was changed after it was made")
                .hint(format!(
                    "name the right one: `ANSIBLE_VAULT_PASSWORD_FILE=FILE`, or `ANSIBLE_VAULT_IDENTITY_LIST={label}@FILE`"
                )),
            false => error.hint(
                "set `ANSIBLE_VAULT_PASSWORD_FILE`, or `ansible_vault_password_file` below `secrets:` in `infra.yaml`",
            ),
        }
    }

    fn no_password(&self, file: &Path, label: &str) -> Error {
        let message =
            format!("cannot encrypt `{}`: there is no vault password for `{label}`", file.display());
        self.tried(refused(message)).hint(format!("set `ANSIBLE_VAULT_IDENTITY_LIST={label}@FILE`"))
    }

    fn tried(&self, error: Error) -> Error {
        let told = self.entries.iter().map(LabelledPassword::problem);
        told.fold(error, |error, problem| error.fact("tried", problem))
    }
}

impl LabelledPassword {
    /// Returns the password; asks for it the first time if a person knows it.
    fn password(&self, ask: Ask<'_>) -> Option<Password> {
        match &self.held {
            PasswordState::Password(password) => Some(password.clone()),
            PasswordState::Nothing { .. } => None,
            PasswordState::Asked(answer) => answer.get_or_init(|| answered(ask, &self.question())).clone(),
        }
    }

    /// Returns the password for a new vault; a person types it twice, because a misspelt password would lose the file.
    fn new_password(&self, ask: Ask<'_>) -> Option<Password> {
        let PasswordState::Asked(answer) = &self.held else { return self.password(ask) };
        let twice = || {
            let first = answered(ask, &self.question())?;
            let second = answered(ask, &format!("{} again", self.question()))?;
            bool::from(first.bytes().ct_eq(second.bytes())).then_some(first)
        };
        answer.get_or_init(twice).clone()
    }

    fn question(&self) -> String {
        match &self.id.label {
            Some(label) => format!("Vault password ({label})"),
            None => "Vault password".to_owned(),
        }
    }

    fn has_password(&self) -> bool {
        match &self.held {
            PasswordState::Password(_) => true,
            PasswordState::Nothing { .. } => false,
            PasswordState::Asked(answer) => answer.get().is_some_and(Option::is_some),
        }
    }

    /// Says what was tried and what came of it.
    fn problem(&self) -> String {
        let (label, source) = (self.id.label(), &self.id.source);
        match &self.held {
            PasswordState::Nothing { why } => format!("`{label}` from {source}, which {why}"),
            PasswordState::Asked(_) if !self.has_password() => {
                format!("`{label}` from {source}, which nobody answered")
            }
            PasswordState::Password(_) | PasswordState::Asked(_) => format!("`{label}` from {source}"),
        }
    }
}

fn answered(ask: Ask<'_>, question: &str) -> Option<Password> {
    Password::from_text(ask(question)?.as_bytes())
}

fn held(password: Option<Password>) -> PasswordState {
    password.map_or_else(|| PasswordState::Nothing { why: "is empty".to_owned() }, PasswordState::Password)
}

/// A script whose name ends in `-client` is told which label is wanted.
fn call(path: &Path, id: &VaultId, dir: &Path, env: &Environment) -> Invocation {
    let call = Invocation::new(path, dir, env.clone());
    let client = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("-client"));
    if client { call.args(["--vault-id", id.label()]) } else { call }
}

/// Takes a password from what a script left behind; its stderr stays untold, as it may show secrets.
fn printed(captured: Result<crate::process::Captured>) -> PasswordState {
    let captured = match captured {
        Ok(captured) => captured,
        Err(error) => {
            return PasswordState::Nothing { why: format!("does not start: {}", error.body().join("; ")) };
        }
    };
    match captured.status.code() {
        Some(0) => held(Password::from_output(captured.stdout.unmasked())),
        Some(LABEL_UNKNOWN) => {
            PasswordState::Nothing { why: "does not know this label (exit code 2)".to_owned() }
        }
        Some(code) => PasswordState::Nothing { why: format!("failed with exit code {code}; run it by hand") },
        None => PasswordState::Nothing { why: "was killed".to_owned() },
    }
}

fn refused(message: String) -> Error {
    Error::new(Kind::Refused, message)
}

fn unreadable(file: &Path, flaw: &Flaw) -> Error {
    refused(format!("`{}` is no Ansible Vault that can be read", file.display()))
        .detail(flaw.to_string())
        .hint("restore it from version control")
}

fn badly_padded(file: &Path) -> Error {
    refused(format!("cannot open `{}`: the password fits, but the content is damaged", file.display()))
        .hint("restore it from version control")
}

fn several<'a>(file: &Path, labels: impl Iterator<Item = &'a str>) -> Error {
    let mut labels: Vec<&str> = labels.collect();
    labels.dedup();
    refused(format!("cannot encrypt `{}`: there are several vault passwords", file.display()))
        .fact("labels", labels.join(", "))
        .hint(format!("choose one: `ANSIBLE_VAULT_ENCRYPT_IDENTITY={}`", labels.first().unwrap_or(&"")))
}
