//! What a project brings of its own that this program would run, obey, or open a person's
//! secrets for.
//!
//! This is the whole list: a feature that runs something of the repository has a kind here.

use serde::{Deserialize, Serialize};

use crate::model::in_plain_sight;

/// The code of the error of a project that is not trusted.
pub const UNTRUSTED: &str = "untrusted";

/// In which way an item of the project matters.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrustItemKind {
    /// Python code that `configure` runs.
    PythonPlugin,
    /// A program below the root that is run as tofu.
    TofuBinary,
    /// A program that prints a vault password.
    PasswordProgram,
    /// A program that a stack's files name for the key of its state.
    KeyProgram,
    /// A file that names a program, or a file to send, for the credentials of a bucket.
    CredentialFile,
    /// A variable of the environment that can change what programs do.
    Variable,
    /// Providers and modules that came with the repository.
    TofuData,
    /// Settings of tofu's command line.
    CliConfig,
    /// A key or password outside of the project that opens its encrypted files.
    Key,
}

impl TrustItemKind {
    /// Returns the word that stands for it in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PythonPlugin => "python-plugin",
            Self::TofuBinary => "tofu-binary",
            Self::PasswordProgram => "password-program",
            Self::KeyProgram => "key-program",
            Self::CredentialFile => "credential-file",
            Self::Variable => "variable",
            Self::TofuData => "tofu-data",
            Self::CliConfig => "cli-config",
            Self::Key => "key",
        }
    }
}

/// One item of a project.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct TrustItem {
    /// In which way it matters.
    pub kind: TrustItemKind,
    /// What it is called: a path, the name of a variable, a recipient.
    pub name: String,
    /// A digest of everything that would run or be obeyed; another digest is another item.
    pub digest: String,
    /// Where it comes from, for people; a consent does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl TrustItem {
    /// Names an item.
    pub fn new(kind: TrustItemKind, name: impl Into<String>, digest: impl Into<String>) -> Self {
        Self { kind, name: name.into(), digest: digest.into(), from: None }
    }

    /// Says where it comes from.
    #[must_use]
    pub fn from(mut self, place: impl Into<String>) -> Self {
        self.from = Some(place.into());
        self
    }

    /// Says in a line what would happen with it.
    pub fn words(&self) -> String {
        // Names come from the repository: none may look like a line of this program's own.
        let name = in_plain_sight(&self.name);
        let from = in_plain_sight(self.from.as_deref().unwrap_or("infra.yaml"));
        match self.kind {
            TrustItemKind::PythonPlugin => format!("runs Python of this project: {name}"),
            TrustItemKind::TofuBinary => format!("runs `{name}` of this project as tofu"),
            TrustItemKind::PasswordProgram => format!("runs `{name}`, which prints a vault password"),
            TrustItemKind::KeyProgram => format!("runs a program that `{name}` names for the keys of states"),
            TrustItemKind::CredentialFile => {
                format!(
                    "takes credentials for a bucket as `{name}` says, which names a program or a token to send"
                )
            }
            TrustItemKind::Variable => format!("sets `{name}` for tofu and its providers ({from})"),
            TrustItemKind::TofuData => format!("uses providers or modules that git brought: `{name}`"),
            TrustItemKind::CliConfig => format!("obeys the settings for tofu in `{name}`"),
            TrustItemKind::Key => format!("opens its encrypted files with {name}, from `{from}`"),
        }
    }

    /// Returns whether a yes to the other is a yes to this one.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.kind, &self.name, &self.digest) == (other.kind, &other.name, &other.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_add_a_line_or_move_the_cursor() {
        let item = TrustItem::new(TrustItemKind::TofuData, "a\n  · nothing\u{1b}[2J", "");

        let words = item.words();

        assert!(!words.contains('\n') && !words.contains('\u{1b}'), "{words:?}");
    }
}
