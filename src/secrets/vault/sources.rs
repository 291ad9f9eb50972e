//! Where vault passwords may come from, as data: settings, flags and variables become an
//! ordered list of vault ids.
//!
//! Reads no file and starts nothing. Begin at [`vault_ids`].

use std::fmt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::envelope::DEFAULT_LABEL;
use crate::model::Environment;
use crate::process::is_executable;
use crate::secrets::identities::{FoundKey, FoundKeys, is_outside};
use crate::secrets::key_trust::KeyTrust;

/// A password's label and where to get it: `label@source`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultId {
    /// The label; `None` is the default one.
    pub label: Option<String>,
    /// Where the password is.
    pub source: PasswordSource,
}

/// Where a password is.
#[derive(Clone, PartialEq, Eq)]
pub enum PasswordSource {
    /// In a variable of the environment.
    Variable {
        /// The variable's name.
        name: &'static str,
        /// Its value.
        password: Zeroizing<String>,
    },
    /// In a file, or printed by it if it can be executed.
    File(PathBuf),
    /// In a file that must not be used before a person consents, and why.
    Withheld(PathBuf, &'static str),
    /// In a person's head.
    Prompt,
}

/// Everything that may name a password.
#[derive(Clone, Copy, Debug)]
pub struct PasswordOrigins<'a> {
    /// `ANSIBLE_VAULT_*` and `HOME`.
    pub env: &'a Environment,
    /// The working directory, to which variables and flags are relative.
    pub dir: &'a Path,
    /// The project's root, to which its settings are relative.
    pub root: &'a Path,
    /// `ansible_vault_password_file` of the settings.
    pub settings_file: Option<&'a str>,
    /// What may come of that file.
    pub settings_trust: KeyTrust,
    /// Every `--vault-id`.
    pub vault_ids: &'a [String],
    /// Every `--vault-password-file`.
    pub password_files: &'a [PathBuf],
}

impl PasswordOrigins<'_> {
    /// Returns the file that the settings name, as a full path.
    fn settings_path(&self) -> Option<PathBuf> {
        self.settings_file.map(|path| self.root.join(expand_home(Path::new(path), self.env)))
    }

    fn settings_source(&self) -> Option<PasswordSource> {
        let path = self.settings_path()?;
        let refused = if !self.settings_trust.programs && is_executable(&path) {
            Some("is a program that this project names, and the project is not trusted")
        } else if self.settings_trust.found == FoundKeys::Withheld && is_outside(self.root, &path) {
            Some("is outside of this project, which is not trusted")
        } else {
            None
        };
        Some(refused.map_or_else(
            || PasswordSource::File(path.clone()),
            |why| PasswordSource::Withheld(path.clone(), why),
        ))
    }
}

/// Returns the password file outside of the project that is the only way to open a vault.
pub fn withheld_password(origins: &PasswordOrigins<'_>) -> Option<FoundKey> {
    let ids = vault_ids(origins);
    let [VaultId { source: PasswordSource::Withheld(path, _), .. }] = ids.as_slice() else { return None };
    let path = path.display().to_string();
    Some(FoundKey {
        name: format!("your vault password in `{path}`"),
        identity: path,
        place: "infra.yaml".into(),
    })
}

/// Returns the program that prints a vault password, if the file that the settings name is one.
pub fn password_program(root: &Path, settings_file: &str, env: &Environment) -> Option<PathBuf> {
    Some(root.join(expand_home(Path::new(settings_file), env))).filter(|path| is_executable(path))
}

/// Returns the vault ids in the order in which they are tried, the most particular first.
///
/// As in Ansible, the identity list comes before flags and those before a single password
/// file. Without any there is one prompt.
pub fn vault_ids(origins: &PasswordOrigins<'_>) -> Vec<VaultId> {
    let PasswordOrigins { env, dir, .. } = *origins;
    let parse = |text: &str| VaultId::parse(text.trim(), dir, env);
    let unlabelled = |source| VaultId { label: None, source };
    let file = |base: &Path, path: &Path| unlabelled(PasswordSource::File(base.join(expand_home(path, env))));

    let listed = env.get("ANSIBLE_VAULT_IDENTITY_LIST").unwrap_or_default().split(',').filter_map(parse);
    let flags = origins.vault_ids.iter().filter_map(|text| parse(text));
    let files = origins.password_files.iter().map(|path| file(dir, path));
    let password = variable(env, "ANSIBLE_VAULT_PASSWORD").map(unlabelled);
    let env_file = env.path("ANSIBLE_VAULT_PASSWORD_FILE").map(|path| file(dir, &path));
    let settings = origins.settings_source().map(unlabelled);

    let mut ids: Vec<_> =
        listed.chain(flags).chain(files).chain(password).chain(env_file).chain(settings).collect();
    if ids.is_empty() {
        ids.push(unlabelled(PasswordSource::Prompt));
    }
    ids
}

impl VaultId {
    /// Reads `label@source` or `source`; the source is `prompt` or a path.
    pub fn parse(text: &str, dir: &Path, env: &Environment) -> Option<Self> {
        let (label, source) = text.split_once('@').map_or((None, text), |(label, rest)| (Some(label), rest));
        let source = match source {
            "" => return None,
            "prompt" | "prompt_ask_vault_pass" => PasswordSource::Prompt,
            path => PasswordSource::File(dir.join(expand_home(Path::new(path), env))),
        };
        Some(Self { label: label.filter(|label| !label.is_empty()).map(str::to_owned), source })
    }

    /// Returns the label that files are matched with.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(DEFAULT_LABEL)
    }
}

/// Says where a password comes from, never what it is.
impl fmt::Display for PasswordSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, .. } => write!(f, "the variable `{name}`"),
            Self::File(path) | Self::Withheld(path, _) => write!(f, "`{}`", path.display()),
            Self::Prompt => f.write_str("the prompt"),
        }
    }
}

impl fmt::Debug for PasswordSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn variable(env: &Environment, name: &'static str) -> Option<PasswordSource> {
    let password = Zeroizing::new(env.get(name)?.to_owned());
    Some(PasswordSource::Variable { name, password })
}

/// Replaces a leading `~` by the home folder; `~name` stays, because only the user's own home folder is known.
fn expand_home(path: &Path, env: &Environment) -> PathBuf {
    match (path.strip_prefix("~"), env.path("HOME")) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(env: &Environment, settings_file: Option<&str>, flags: &[&str], files: &[&str]) -> Vec<String> {
        let origins = PasswordOrigins {
            env,
            dir: Path::new("/desk"),
            root: Path::new("/project"),
            settings_file,
            settings_trust: KeyTrust::ALL,
            vault_ids: &flags.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(),
            password_files: &files.iter().map(PathBuf::from).collect::<Vec<_>>(),
        };
        vault_ids(&origins).iter().map(|id| format!("{}: {}", id.label(), id.source)).collect()
    }

    #[test]
    fn every_source_counts_in_the_order_of_ansible() {
        let env = Environment::default()
            .with("HOME", "/home/me")
            .with("ANSIBLE_VAULT_IDENTITY_LIST", "dev@dev.txt, prod@~/prod.txt,@bare,,plain")
            .with("ANSIBLE_VAULT_PASSWORD", "hunter2")
            .with("ANSIBLE_VAULT_PASSWORD_FILE", "~/pass");

        let found = ids(&env, Some("vault.pass"), &["ask@prompt"], &["flag.txt"]);

        assert_eq!(
            found,
            [
                "dev: `/desk/dev.txt`",
                "prod: `/home/me/prod.txt`",
                "default: `/desk/bare`",
                "default: `/desk/plain`",
                "ask: the prompt",
                "default: `/desk/flag.txt`",
                "default: the variable `ANSIBLE_VAULT_PASSWORD`",
                "default: `/home/me/pass`",
                "default: `/project/vault.pass`",
            ]
        );
    }

    #[test]
    fn without_any_source_there_is_one_prompt() {
        assert_eq!(ids(&Environment::default(), None, &[], &[]), ["default: the prompt"]);
    }

    #[test]
    fn a_second_at_sign_belongs_to_the_path() {
        let id = VaultId::parse("a@b@c", Path::new("/"), &Environment::default()).expect("a vault id");

        assert_eq!((id.label(), &id.source), ("a", &PasswordSource::File("/b@c".into())));
    }

    #[test]
    fn a_source_never_shows_the_password() {
        let env = Environment::default().with("ANSIBLE_VAULT_PASSWORD", "hunter2");

        let source = variable(&env, "ANSIBLE_VAULT_PASSWORD");

        assert_eq!(format!("{source:?}"), "Some(the variable `ANSIBLE_VAULT_PASSWORD`)");
    }
}
