//! Everything that can open an encrypted file in this run: age identities and vault passwords.
//!
//! A file tells by its content what it is: `$ANSIBLE_VAULT;` or SOPS metadata. Identities
//! are collected at once, vault passwords when the first vault is met, because getting one
//! may run a program. Begin at [`Keyring::load`].

use std::path::{Path, PathBuf};

use tokio::sync::OnceCell;
use zeroize::Zeroizing;

use super::identities;
use super::identities::{FoundKey, Identities, Prompt, Sources};
pub use super::key_trust::KeyTrust;
use super::sops::{CreationRules, Format, Input, Layout, SopsFile, is_encrypted, recipients_of};
use super::vault;
use super::vault::{PasswordOrigins, Passwords, is_vault, password_program, vault_ids, withheld_password};
use crate::error::{Error, Kind, Result, io};
use crate::model::{Environment, SecretsSettings};
use crate::process::Interrupts;

/// Where keys and passwords are looked for.
#[derive(Clone, Copy, Debug)]
pub struct KeyPlaces<'a> {
    /// The environment this program was started with.
    pub env: &'a Environment,
    /// The working folder.
    pub dir: &'a Path,
    /// The project's root, where there is a project.
    pub project: Option<&'a Path>,
    /// `secrets:` of `infra.yaml`.
    pub settings: &'a SecretsSettings,
    /// Every `--vault-id`.
    pub vault_ids: &'a [String],
    /// Every `--vault-password-file`.
    pub password_files: &'a [PathBuf],
    /// What may be used beside what the caller named and the project holds.
    pub trust: KeyTrust,
    /// For the programs that print keys.
    pub interrupts: &'a Interrupts,
}

/// The keys of a run.
pub struct Keyring<'p> {
    places: KeyPlaces<'p>,
    prompt: &'p Prompt<'p>,
    identities: Identities<'p>,
    passwords: OnceCell<Passwords>,
}

/// A file that was opened and verified.
#[derive(Debug)]
pub enum OpenedFile {
    /// A SOPS file.
    Sops(Box<SopsFile>),
    /// An Ansible Vault.
    Vault(vault::Opened),
}

impl OpenedFile {
    /// Returns the plaintext, exactly as the real tools print it.
    pub fn plaintext(&self) -> Result<Zeroizing<Vec<u8>>> {
        match self {
            Self::Sops(file) => file.plaintext(),
            Self::Vault(opened) => Ok(Zeroizing::new(opened.plaintext().to_vec())),
        }
    }
}

impl<'p> Keyring<'p> {
    /// Collects the age identities; `prompt` asks a person for a passphrase, if there is one.
    pub async fn load(places: KeyPlaces<'p>, prompt: &'p Prompt<'p>) -> Self {
        let sources = Sources {
            env: places.env,
            dir: places.dir,
            project: places.project,
            key_file: places.settings.age_key.as_deref().map(Path::new),
            found: places.trust.found,
            interrupts: places.interrupts,
        };
        let identities = identities::load(sources, prompt).await;
        Self { places, prompt, identities, passwords: OnceCell::new() }
    }

    /// Returns the age identities.
    pub const fn identities(&self) -> &Identities<'p> {
        &self.identities
    }

    /// Returns the vault passwords, fetched when they are first wanted.
    pub async fn passwords(&self) -> Result<&Passwords> {
        let KeyPlaces { env, dir, interrupts, .. } = self.places;
        let ids = vault_ids(&self.origins());
        self.passwords.get_or_try_init(|| Passwords::load(ids, env, dir, interrupts)).await
    }

    fn origins(&self) -> PasswordOrigins<'_> {
        let KeyPlaces { env, dir, project, settings, vault_ids, password_files, trust, .. } = self.places;
        PasswordOrigins {
            env,
            dir,
            root: project.unwrap_or(dir),
            settings_file: settings.ansible_vault_password_file.as_deref(),
            settings_trust: trust,
            vault_ids,
            password_files,
        }
    }

    /// Returns whether anything that could open a file waits for a yes.
    pub fn withholds(&self) -> bool {
        self.identities.withholds() || withheld_password(&self.origins()).is_some()
    }

    /// Returns the keys outside of the project without which a file stays shut; a damaged one needs none.
    pub fn withheld_for(&self, path: &Path) -> Vec<FoundKey> {
        let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
        if is_vault(&bytes) {
            return withheld_password(&self.origins()).into_iter().collect();
        }
        let name = path.display().to_string();
        let format = Format::of_path(path);
        let input = Input { name: &name, format, bytes: &bytes, layout: Layout::default() };
        let shut = |group: &&Vec<String>| !group.iter().any(|recipient| self.identities.may_open(recipient));
        let groups = recipients_of(input).unwrap_or_default();
        let wanted = groups.iter().filter(shut).flatten();
        wanted.filter_map(|recipient| self.identities.withheld_for(recipient)).collect()
    }

    /// Returns the program that prints a vault password, if `infra.yaml` names one.
    pub fn password_program(&self) -> Option<PathBuf> {
        let PasswordOrigins { root, settings_file, env, .. } = self.origins();
        password_program(root, settings_file?, env)
    }

    /// Lets everything be used, because a person consented.
    pub fn release(&mut self) {
        self.places.trust = KeyTrust::ALL;
        self.identities.release();
    }

    /// Asks a person for a passphrase.
    pub fn ask(&self, question: &str) -> Option<Zeroizing<String>> {
        (self.prompt)(question)
    }

    /// Reads and opens a file, by its content; `format` overrides what its name says.
    pub async fn open(&self, path: &Path, format: Option<Format>) -> Result<OpenedFile> {
        let bytes = std::fs::read(path).map_err(|error| io("read", path)(error))?;
        self.open_bytes(path, &bytes, format).await
    }

    /// Opens the bytes of a file.
    pub async fn open_bytes(&self, path: &Path, bytes: &[u8], format: Option<Format>) -> Result<OpenedFile> {
        tracing::debug!(file = %path.display(), "opens");
        if is_vault(bytes) {
            let passwords = self.passwords().await?;
            return passwords.open(path, bytes, &|question| self.ask(question)).map(OpenedFile::Vault);
        }
        let name = path.display().to_string();
        let format = format.unwrap_or_else(|| Format::of_path(path));
        let input = Input { name: &name, format, bytes, layout: sops_layout(self.places.dir, format)? };
        SopsFile::open(input, &self.identities).map(|file| OpenedFile::Sops(Box::new(file)))
    }
}

/// Returns whether bytes are an encrypted file of either kind.
pub fn is_sealed(path: &Path, bytes: &[u8]) -> bool {
    let name = path.display().to_string();
    let input = Input { name: &name, format: Format::of_path(path), bytes, layout: Layout::default() };
    is_vault(bytes) || is_encrypted(input)
}

/// Returns how the `.sops.yaml` of a folder wants files of a format laid out.
pub fn sops_layout(dir: &Path, format: Format) -> Result<Layout> {
    CreationRules::find(dir)?.map_or_else(|| Ok(Layout::default()), |rules| rules.layout(format))
}

/// Makes the error of a file that is not encrypted although it should be.
pub fn not_sealed(path: &Path) -> Error {
    Error::new(Kind::Refused, format!("`{}` is not encrypted", path.display()))
        .hint(format!("encrypt it: `infra secrets encrypt {}`", path.display()))
}

/// Shows what was collected, and no key.
impl std::fmt::Debug for Keyring<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring").field("recipients", &self.identities.recipients()).finish_non_exhaustive()
    }
}
