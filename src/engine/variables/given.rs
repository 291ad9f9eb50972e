//! Variables that the command line gives for one run: `--var` and `--var-file`, in the order in
//! which they were written, so that the last one wins.
//!
//! Values may be secrets: they reach tofu through a pipe, and a saved plan remembers them sealed
//! with this user's key.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use aes_gcm::aead::{Aead as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zeroize::Zeroizing;

use super::stack_secrets::StackSecrets;
use super::variable_flags::{Flag, flags};
use crate::error::{Error, Result, io};
use crate::model::{Fingerprint, Stack, hex, nearest};
use crate::secrets::is_sealed;
use crate::stacks::EarlyVariables;
use crate::tofu::{Assignment, VariableSource, to_tfvars};
use crate::trust::UserKey;

/// More is no list of variables.
const LARGEST: u64 = 10 * 1024 * 1024;

const PURPOSE: &str = "given-variables";

/// What one flag gives.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GivenItem {
    /// `--var NAME=VALUE`.
    Value {
        /// The variable.
        name: String,
        /// Its value as it was written.
        text: String,
    },
    /// `--var-file FILE`, by its absolute path.
    File(PathBuf),
    /// What came through a pipe that can be read only once.
    Text(String),
    /// `--var-file FILE` where the file is encrypted: it is opened like those of the stacks.
    Sealed(PathBuf),
}

/// Shows no value.
impl std::fmt::Debug for GivenItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value { name, .. } => write!(f, "Value({name})"),
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Text(_) => f.write_str("Text(…)"),
            Self::Sealed(path) => write!(f, "Sealed({})", path.display()),
        }
    }
}

/// Everything that the command line gives.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Given(Vec<GivenItem>);

impl Given {
    /// Takes over what was written; files are looked for from the working folder.
    ///
    /// Returns encrypted files apart too: they are opened like those of the stacks.
    pub fn resolve(items: &[GivenItem], cwd: &Path) -> Result<(Self, Vec<PathBuf>)> {
        let (mut found, mut sealed) = (Vec::new(), Vec::new());
        for item in items {
            match item {
                GivenItem::File(file) => match read_file(file, &cwd.join(file))? {
                    Some(item) => found.push(item),
                    None => {
                        found.push(GivenItem::Sealed(cwd.join(file)));
                        sealed.push(cwd.join(file));
                    }
                },
                other => found.push(other.clone()),
            }
        }
        Ok((Self(found), sealed))
    }

    /// Takes over what is among arguments for tofu; it looks for files from the stack's folder.
    pub fn passed_on(extra: &[String]) -> Self {
        let items = flags(extra).into_iter().filter_map(|Flag { name, value, .. }| match name {
            "var" => value
                .split_once('=')
                .map(|(name, text)| GivenItem::Value { name: name.trim().to_owned(), text: text.to_owned() }),
            "var-file" => Some(GivenItem::File(value.into())),
            _ => None,
        });
        Self(items.collect())
    }

    /// Returns whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a file is given, so that none is to be guessed.
    pub fn has_files(&self) -> bool {
        self.0.iter().any(|item| !matches!(item, GivenItem::Value { .. }))
    }

    /// Refuses a variable that none of the stacks declares.
    pub fn check(&self, stacks: &[&Stack]) -> Result<()> {
        for name in self.names() {
            if stacks.iter().any(|stack| stack.variables.contains(name)) {
                continue;
            }
            let declared = stacks.iter().flat_map(|stack| stack.variables.iter().map(String::as_str));
            let error = Error::usage(format!("no chosen stack declares a variable `{name}`"));
            return Err(match nearest(name, declared) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("a variable is declared by `variable \"NAME\" {}` in the stack's files"),
            });
        }
        Ok(())
    }

    /// Returns the variables that are named.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|item| match item {
            GivenItem::Value { name, .. } => Some(name.as_str()),
            GivenItem::File(_) | GivenItem::Text(_) | GivenItem::Sealed(_) => None,
        })
    }

    /// Returns which flag gives a variable its value; `sets` tells it of a plain file.
    pub fn origin_of(&self, name: &str, sets: impl Fn(&Path) -> bool) -> Option<String> {
        self.0.iter().rev().find_map(|item| match item {
            GivenItem::Value { name: given, .. } => (given == name).then(|| format!("`--var {name}=…`")),
            GivenItem::File(file) => sets(file).then(|| format!("`--var-file {}`", file.display())),
            // What an encrypted file sets is known with the secrets.
            GivenItem::Text(_) | GivenItem::Sealed(_) => None,
        })
    }

    /// Returns the files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|item| match item {
            GivenItem::File(path) => Some(path.as_path()),
            GivenItem::Value { .. } | GivenItem::Text(_) | GivenItem::Sealed(_) => None,
        })
    }

    /// Returns where a call for a stack takes them from; what the stack does not declare is left out.
    pub fn sources(
        &self,
        stack: &Stack,
        declared: &EarlyVariables,
        secrets: &StackSecrets,
    ) -> Vec<VariableSource> {
        let mut sources = Vec::new();
        for item in &self.0 {
            match item {
                GivenItem::Value { name, text } if stack.variables.contains(name) => {
                    sources.push(VariableSource::Text(assigned(name, text, declared).into()));
                }
                GivenItem::Value { .. } => {}
                GivenItem::File(path) => sources.push(VariableSource::File(path.clone())),
                GivenItem::Text(text) => sources.push(VariableSource::Text(text.clone().into())),
                GivenItem::Sealed(path) => match secrets.variables_in(path) {
                    Some(set) => {
                        let set = set.iter().map(|(name, value)| (name.as_str(), value));
                        sources.push(VariableSource::Text(to_tfvars(set).into()));
                    }
                    // What it would have overruled must not take its place.
                    None => sources.clear(),
                },
            }
        }
        sources
    }

    /// Returns the values that must not be shown: those of variables that are declared sensitive.
    pub fn hidden(&self, declared: &EarlyVariables) -> Vec<Zeroizing<String>> {
        let values = self.0.iter().filter_map(|item| match item {
            GivenItem::Value { name, text } if declared.is_sensitive(name) => Some(text.clone().into()),
            _ => None,
        });
        values.collect()
    }

    /// Returns digests of the files as they are now.
    pub fn digests(&self) -> Result<Vec<Vec<u8>>> {
        let digest = |path: &Path| {
            let file = std::fs::File::open(path).map_err(io("read", path))?;
            Ok(Fingerprint::of_reader(file).map_err(io("read", path))?.to_string().into_bytes())
        };
        self.files().filter(|path| path.is_file()).map(digest).collect()
    }

    /// Returns them in a form that only the owner of the key can read.
    pub fn seal(&self, key: &UserKey) -> Option<String> {
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).ok()?;
        let plain = Zeroizing::new(serde_json::to_vec(self).ok()?);
        let sealed = cipher(key).encrypt(Nonce::from_slice(&nonce), plain.as_slice()).ok()?;
        Some(format!("{}{}", hex(&nonce), hex(&sealed)))
    }

    /// Reads what was sealed; nothing with another key.
    pub fn open(sealed: &str, key: &UserKey) -> Option<Self> {
        let bytes = unhex(sealed)?;
        let (nonce, sealed) = bytes.split_at_checked(12)?;
        let plain = Zeroizing::new(cipher(key).decrypt(Nonce::from_slice(nonce), sealed).ok()?);
        serde_json::from_slice(&plain).ok()
    }
}

fn cipher(key: &UserKey) -> Aes256Gcm {
    Aes256Gcm::new(Key::<Aes256Gcm>::from_slice(key.derive(PURPOSE).as_slice()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Writes a value as tofu would take it from its command line: a text, or an expression.
fn assigned(name: &str, text: &str, declared: &EarlyVariables) -> String {
    if declared.takes_text(name) {
        return to_tfvars([(name, &Assignment::Value(Value::from(text)))]);
    }
    // In parentheses an expression may go over several lines, and end in a comment.
    format!("{name} = (\n{text}\n)\n")
}

/// Reads what a file gives; `None` if it is encrypted.
fn read_file(written: &Path, path: &Path) -> Result<Option<GivenItem>> {
    let missing = |why: &str| {
        Error::usage(format!("`--var-file {}` {why}", written.display()))
            .hint(format!("it is looked for at `{}`", path.display()))
    };
    let facts = std::fs::metadata(path).map_err(|_| missing("is not there"))?;
    if facts.is_dir() {
        return Err(missing("is a folder"));
    }
    let mut bytes = Zeroizing::new(Vec::new());
    let file = std::fs::File::open(path).map_err(io("read", path))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(io("read", path))?;
    if bytes.len() as u64 > LARGEST {
        return Err(missing("is larger than any list of variables"));
    }
    if facts.is_file() {
        return Ok((!is_sealed(path, &bytes)).then(|| GivenItem::File(path.to_owned())));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| missing("is no text"))?;
    Ok(Some(GivenItem::Text(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Environment;

    fn value(name: &str, text: &str) -> GivenItem {
        GivenItem::Value { name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_is_sealed_opens_with_the_same_key_only_and_shows_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let key = |name: &str| {
            let mut env = Environment::default();
            env.set("XDG_STATE_HOME", dir.path().join(name).to_str().expect("text"));
            UserKey::load(&env).expect("a key")
        };
        let given = Given(vec![value("a", "s3cret"), GivenItem::File("/x".into())]);

        let sealed = given.seal(&key("one")).expect("sealed");

        assert!(!sealed.contains("s3cret") && !format!("{given:?}").contains("s3cret"));
        assert_eq!(Given::open(&sealed, &key("one")), Some(given));
        assert_eq!(Given::open(&sealed, &key("two")), None);
        assert_eq!(Given::open("zz", &key("one")), None);
    }

    #[test]
    fn a_value_is_a_text_or_an_expression_as_the_variable_is_declared() {
        let dir = tempfile::tempdir().expect("a folder");
        let text = "variable \"list\" {\n  type = list(string)\n}\nvariable \"plain\" {}\n";
        std::fs::write(dir.path().join("main.tf"), text).expect("a file");
        let declared = EarlyVariables::read(dir.path(), dir.path());

        assert_eq!(assigned("plain", "${x} [", &declared), "plain = \"$${x} [\"\n");
        assert_eq!(assigned("list", "[\"a\"]", &declared), "list = (\n[\"a\"]\n)\n");
    }

    #[test]
    fn a_file_that_is_not_there_is_told_before_anything_runs() {
        let error = Given::resolve(&[GivenItem::File("x.tfvars".into())], Path::new("/nowhere"));

        assert!(error.expect_err("no file").message().contains("`--var-file x.tfvars` is not there"));
    }
}
