//! What a stack gets from its encrypted files: variables it declares, and environment for
//! its backend; nothing else leaves the files.
//!
//! Opened once, before any tofu starts, so that a wrong key fails early. Values live in
//! memory only; every one of them is known to the redactor.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

use super::secret_files::secret_files;
use crate::error::{Error, Kind, Result};
use crate::events::Events;
use crate::model::{Encryption, Fingerprint, Project, Stack, StackId};
use crate::secrets::sops::{Format, stores};
use crate::secrets::vault::is_vault;
use crate::secrets::{Keyring, OpenedFile};
use crate::stacks::SettingsBook;
use crate::syntax;
use crate::syntax::{Attribute, Document, Fault, Setting};
use crate::tofu;
use crate::tofu::{Assignment, StateKey};

/// Keys that feed the environment instead of a variable.
const RESERVED: [(&str, &str); 5] = [
    ("tfstate_username", "TF_HTTP_USERNAME"),
    ("tfstate_password", "TF_HTTP_PASSWORD"),
    ("aws_access_key_id", "AWS_ACCESS_KEY_ID"),
    ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"),
    ("aws_region", "AWS_REGION"),
];

/// The key whose value encrypts states and plans.
pub const PASSPHRASE: &str = "state_encryption_passphrase";

/// The key whose value will encrypt them once the states are rotated to it.
pub const NEXT_PASSPHRASE: &str = "state_encryption_passphrase_next";

/// A passphrase, and where it was found.
#[derive(Clone)]
pub struct Passphrase {
    pub text: Zeroizing<String>,
    pub file: PathBuf,
}

/// What becomes of a command when an encrypted file of its stacks stays shut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unopened {
    /// It ends: it needs every value.
    Ends,
    /// The file is left out, and tofu judges: the command only needs what is evaluated early.
    LeftOut,
    /// The same, unless the file may hold what encrypts the state that the command writes.
    LeftOutOfWriting,
}

/// An encrypted file that stayed shut.
#[derive(Clone, Debug)]
pub(super) struct UnopenedFile {
    pub path: PathBuf,
    pub error: Error,
}

/// What one stack gets.
#[derive(Default)]
pub struct StackSecrets {
    /// Variables that the stack declares.
    pub(in crate::engine) variables: BTreeMap<String, Assignment>,
    /// The same by the file that sets them, in rising rank.
    by_file: Vec<(PathBuf, BTreeMap<String, Assignment>)>,
    /// Variables of the environment.
    pub(in crate::engine) env: BTreeMap<String, Zeroizing<String>>,
    /// The files they came from.
    pub(in crate::engine) files: Vec<PathBuf>,
    /// The digest of all that each of them holds, for the memory only: it could be guessed at.
    pub(in crate::engine) digests: Vec<Fingerprint>,
    /// Every value in the files, for the redactor.
    pub(in crate::engine) values: Vec<Zeroizing<String>>,
    /// What encrypts the state; none where encryption is off or there is no passphrase.
    pub(in crate::engine) state_key: Option<StateKey>,
    /// What it is to be rotated to.
    pub(in crate::engine) next_passphrase: Option<Passphrase>,
    /// The passphrase that is found, whether states are encrypted or not.
    pub(in crate::engine) passphrase: Option<Passphrase>,
    /// Files that stayed shut, and were left out.
    pub(super) shut: Vec<UnopenedFile>,
}

impl StackSecrets {
    /// Returns whether the stack has no encrypted files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns what the files hold for a backend, as variables of the environment.
    pub const fn backend_variables(&self) -> &BTreeMap<String, Zeroizing<String>> {
        &self.env
    }

    /// Returns whether the files hold what a backend asks for.
    pub fn has_credentials(&self) -> bool {
        !self.env.is_empty()
    }

    /// Returns the variables of the stack that a file sets; `None` if it was not opened.
    pub(super) fn variables_in(&self, file: &std::path::Path) -> Option<&BTreeMap<String, Assignment>> {
        self.by_file.iter().find(|(path, _)| path == file).map(|(_, variables)| variables)
    }

    /// Returns the file that a variable has its value from.
    pub(super) fn origin_of(&self, name: &str) -> Option<&std::path::Path> {
        let sets = self.by_file.iter().rev().find(|(_, variables)| variables.contains_key(name));
        sets.map(|(path, _)| path.as_path())
    }

    /// Returns the files that were left out, each with why, and what to do about it.
    pub fn left_out(&self) -> impl Iterator<Item = (String, &[String])> {
        self.shut.iter().map(|UnopenedFile { path, error }| {
            let why: Vec<String> = error.body();
            let text = format!("`{}` stays shut and is left out: {}", path.display(), error.message());
            (std::iter::once(text).chain(why).collect::<Vec<_>>().join("\n  "), error.hints())
        })
    }

    /// Returns what a stack without encrypted files gets.
    pub(in crate::engine) const fn none() -> Self {
        Self {
            variables: BTreeMap::new(),
            by_file: Vec::new(),
            env: BTreeMap::new(),
            files: Vec::new(),
            digests: Vec::new(),
            values: Vec::new(),
            state_key: None,
            next_passphrase: None,
            passphrase: None,
            shut: Vec::new(),
        }
    }
}

/// Shows where they came from, and nothing else.
impl std::fmt::Debug for StackSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackSecrets").field("files", &self.files).finish_non_exhaustive()
    }
}

/// Opens the files of the stacks that a command is about.
pub async fn load_secrets(
    keyring: &Keyring<'_>,
    project: &Project,
    stacks: &[&Stack],
    unopened: impl Fn(&StackId) -> Unopened,
) -> Result<BTreeMap<StackId, StackSecrets>> {
    let mut contents = Contents::default();
    let mut secrets = BTreeMap::new();
    let mut keys = StateKeys::default();
    let book = SettingsBook::of(project);
    for stack in stacks {
        let (unopened, mut own) = (unopened(&stack.id), StackSecrets::default());
        for file in secret_files(project, stack, &book.settings_for(&stack.id))? {
            match contents.of(keyring, &file).await {
                Ok(Content { pairs, digest }) => {
                    distribute(stack, &file, pairs, &mut own);
                    own.digests.push(digest.clone());
                    own.files.push(file);
                }
                Err(error) if unopened.leaves_out(project, &file) => {
                    own.shut.push(UnopenedFile { path: file, error });
                }
                Err(error) => return Err(error),
            }
        }
        encrypt_state(project, stack, &mut own, (unopened, &mut keys))?;
        secrets.insert(stack.id.clone(), own);
    }
    Ok(secrets)
}

impl Unopened {
    fn leaves_out(self, project: &Project, file: &std::path::Path) -> bool {
        match self {
            Self::Ends => false,
            Self::LeftOut => true,
            Self::LeftOutOfWriting => {
                project.state.encryption == Encryption::Off || !may_hold(file, PASSPHRASE)
            }
        }
    }
}

/// Returns whether a file that stays shut may have a value of this name: only SOPS leaves names readable.
fn may_hold(file: &std::path::Path, name: &str) -> bool {
    let bytes = std::fs::read(file).unwrap_or_default();
    let is_opaque = is_vault(&bytes) || Format::of_path(file) == Format::Binary;
    is_opaque || bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

/// What a file holds.
struct Content {
    /// The names and values at its top.
    pairs: Vec<(String, Assignment)>,
    /// The digest of all of it.
    digest: Fingerprint,
}

/// What files hold, each opened once.
#[derive(Default)]
struct Contents(BTreeMap<PathBuf, Result<Content>>);

impl Contents {
    async fn of(&mut self, keyring: &Keyring<'_>, file: &std::path::Path) -> Result<&Content> {
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), content_of(keyring, file).await);
        }
        match self.0.get(file) {
            Some(Ok(content)) => Ok(content),
            Some(Err(error)) => Err(error.clone()),
            None => Err(unreadable(file)),
        }
    }
}

async fn content_of(keyring: &Keyring<'_>, file: &std::path::Path) -> Result<Content> {
    let opened = keyring.open(file, None).await?;
    let digest = Fingerprint::of([opened.plaintext()?.as_slice()]);
    Ok(Content { pairs: top_level(file, &opened)?, digest })
}

/// Returns the names and values at the top of a file.
fn top_level(file: &std::path::Path, opened: &OpenedFile) -> Result<Vec<(String, Assignment)>> {
    if file.extension().is_some_and(|extension| extension == "tfvars") {
        return read_tfvars(file, &opened.plaintext()?);
    }
    let document = match opened {
        OpenedFile::Sops(sops) => stores::to_json(sops.documents()),
        OpenedFile::Vault(vault) => serde_saphyr::from_slice(vault.plaintext()).unwrap_or_default(),
    };
    // A file of variables may have any name.
    let Value::Object(map) = &document else { return read_tfvars(file, &opened.plaintext()?) };
    Ok(map.iter().map(|(name, value)| (name.clone(), Assignment::Value(value.clone()))).collect())
}

/// Reads a variables file. What is wrong is told by its place alone: the text is secret.
fn read_tfvars(file: &std::path::Path, plaintext: &[u8]) -> Result<Vec<(String, Assignment)>> {
    let plaintext = plaintext.strip_prefix(b"\xef\xbb\xbf").unwrap_or(plaintext);
    let text = std::str::from_utf8(plaintext).map_err(|_| unreadable(file))?;
    let Document { body, fault } = syntax::read(text);
    let block = body.blocks.first().map(|block| Fault { at: block.span.start, what: "a block" });
    let twice = set_twice(&body.attributes);
    if let Some(Fault { at, what }) = fault.or(block).or(twice) {
        let (line, column) = syntax::line_and_column(text, at);
        return Err(unreadable(file).at(format!("{}:{line}:{column}", file.display())).detail(what));
    }
    Ok(body.attributes.iter().map(|set| (set.name.to_owned(), assignment(text, &set.value))).collect())
}

/// Returns where a variable is set that was set before; tofu takes no such file either.
fn set_twice(attributes: &[Attribute<'_>]) -> Option<Fault> {
    let mut seen = BTreeSet::new();
    let twice = attributes.iter().find(|attribute| !seen.insert(attribute.name))?;
    Some(Fault { at: twice.start, what: "a variable that is set before" })
}

fn assignment(text: &str, value: &Range<usize>) -> Assignment {
    Assignment::Hcl {
        text: Zeroizing::new(text.get(value.clone()).unwrap_or_default().to_owned()),
        said: match syntax::value(text, value) {
            Some(Setting::Literal(said)) => Some(Zeroizing::new(said)),
            _ => None,
        },
        literals: syntax::literals(text, value).into_iter().map(Zeroizing::new).collect(),
    }
}

/// Sorts what a file holds into variables and environment; later files win.
fn distribute(
    stack: &Stack,
    file: &std::path::Path,
    pairs: &[(String, Assignment)],
    secrets: &mut StackSecrets,
) {
    let mut variables = BTreeMap::new();
    for (name, assigned) in pairs {
        secrets.values.extend(assigned.literals());
        let variable = RESERVED.iter().find(|(key, _)| key == name).map(|(_, variable)| *variable);
        let passphrase = |text| Some(Passphrase { text, file: file.to_owned() });
        match (variable, assigned.as_text()) {
            (Some(variable), Some(text)) => {
                secrets.env.insert(variable.to_owned(), text);
            }
            (None, Some(text)) if name == PASSPHRASE => secrets.passphrase = passphrase(text),
            (None, Some(text)) if name == NEXT_PASSPHRASE => secrets.next_passphrase = passphrase(text),
            (None, _) if is_variable(stack, name) => {
                variables.insert(name.clone(), assigned.clone());
            }
            // Not declared; or a reserved key that is no text, which is never a variable either.
            _ => {}
        }
    }
    secrets.variables.extend(variables.clone());
    secrets.by_file.push((file.to_owned(), variables));
}

fn is_variable(stack: &Stack, name: &str) -> bool {
    ![PASSPHRASE, NEXT_PASSPHRASE].contains(&name) && stack.variables.contains(name)
}

/// Passphrases that were named already: naming is slow, and most stacks share one.
#[derive(Default)]
pub struct StateKeys(Vec<StateKey>);

impl StateKeys {
    /// Returns the key of a passphrase.
    pub fn of(&mut self, passphrase: &Zeroizing<String>) -> StateKey {
        if let Some(known) = self.0.iter().find(|key| key.passphrase() == passphrase.as_str()) {
            return known.clone();
        }
        let key = StateKey::new(passphrase.clone());
        self.0.push(key.clone());
        key
    }
}

/// Turns the passphrase into the setting that tofu encrypts states and plans by.
fn encrypt_state(
    project: &Project,
    stack: &Stack,
    secrets: &mut StackSecrets,
    (unopened, keys): (Unopened, &mut StateKeys),
) -> Result<()> {
    match (project.state.encryption, &secrets.passphrase) {
        (Encryption::Off, _) | (Encryption::Auto, None) => {}
        (Encryption::Auto | Encryption::Required, Some(passphrase)) => {
            let key = keys.of(&passphrase.text);
            secrets.env.insert("TF_ENCRYPTION".to_owned(), key.setting());
            secrets.state_key = Some(key);
        }
        // What is left out may be the passphrase: tofu judges.
        (Encryption::Required, None) if unopened == Unopened::LeftOut && !secrets.shut.is_empty() => {}
        (Encryption::Required, None) => {
            return Err(no_passphrase(&stack.id).at("infra.yaml: state.encryption"));
        }
    }
    Ok(())
}

/// Tells which files were left out, each once: several stacks may share one.
pub fn tell_left_out<'a>(secrets: impl Iterator<Item = &'a StackSecrets>, events: &Events) {
    let mut told = Vec::new();
    for (text, hints) in secrets.flat_map(StackSecrets::left_out) {
        if !told.contains(&text) {
            events.warn(text.clone(), hints.to_vec());
            told.push(text);
        }
    }
}

/// Makes the error of a stack that has nothing to encrypt its state with.
pub fn no_passphrase(stack: &StackId) -> Error {
    Error::new(Kind::Refused, format!("`{stack}` must have an encrypted state, but there is no passphrase"))
        .hint(format!("put `{PASSPHRASE}` (at least 16 characters) into the stack's secrets file"))
}

fn unreadable(file: &std::path::Path) -> Error {
    Error::new(
        Kind::Refused,
        format!("`{}` was decrypted, but is not a map of names and values", file.display()),
    )
    .hint(format!("look at it: `infra secrets view {}`", file.display()))
}

/// Returns the text of a variables file with these and other values; the others win.
pub(super) fn variables_text(secrets: &StackSecrets, others: &BTreeMap<String, Value>) -> Option<String> {
    let mut all = secrets.variables.clone();
    all.extend(others.iter().map(|(name, value)| (name.clone(), Assignment::Value(value.clone()))));
    (!all.is_empty()).then(|| tofu::to_tfvars(all.iter().map(|(name, value)| (name.as_str(), value))))
}
