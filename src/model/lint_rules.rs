//! The rules that files are judged by, as `infra.yaml` and comments name them, and how grave each is.

use std::collections::BTreeMap;
use std::fmt;

/// A rule of `infra lint`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LintRule {
    /// A module comes from the project or from a registry.
    ModuleSource,
    /// A module of a registry is pinned with `~>`.
    ModuleVersionPin,
    /// A module has the files that everybody looks for.
    ModuleRequiredFiles,
    /// A module's README names its variables and outputs.
    ModuleReadme,
    /// A variable of a module has a type.
    VariableType,
    /// A variable of a module says what it is for.
    VariableDescription,
    /// A provider of a stack is pinned with `~>`.
    ProviderVersionPin,
    /// An output of a module says what it is.
    OutputDescription,
    /// No two stacks write one state.
    StateIdentityUnique,
    /// No secret stands in the clear.
    PlaintextSecret,
    /// The lock file of a stack with providers is there, and git takes it.
    LockFileCommitted,
    /// Every state has its entry in `infra.lock`.
    StateLockMissing,
    /// A file can be read.
    FileSyntax,
    /// A comment that ignores a rule names it and gives a reason.
    IgnoreComment,
}

impl LintRule {
    /// All rules, in the order in which they are documented.
    pub const ALL: [Self; 14] = [
        Self::ModuleSource,
        Self::ModuleVersionPin,
        Self::ModuleRequiredFiles,
        Self::ModuleReadme,
        Self::VariableType,
        Self::VariableDescription,
        Self::OutputDescription,
        Self::ProviderVersionPin,
        Self::LockFileCommitted,
        Self::StateIdentityUnique,
        Self::StateLockMissing,
        Self::PlaintextSecret,
        Self::FileSyntax,
        Self::IgnoreComment,
    ];

    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ModuleSource => "module-source",
            Self::ModuleVersionPin => "module-version-pin",
            Self::ModuleRequiredFiles => "module-required-files",
            Self::ModuleReadme => "module-readme",
            Self::VariableType => "variable-type",
            Self::VariableDescription => "variable-description",
            Self::ProviderVersionPin => "provider-version-pin",
            Self::OutputDescription => "output-description",
            Self::StateIdentityUnique => "state-identity-unique",
            Self::PlaintextSecret => "plaintext-secret",
            Self::LockFileCommitted => "lock-file-committed",
            Self::StateLockMissing => "state-lock-missing",
            Self::FileSyntax => "file-syntax",
            Self::IgnoreComment => "ignore-comment",
        }
    }

    /// Returns the rule of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    /// Returns how grave a finding is where `infra.yaml` does not say.
    pub const fn usual_level(self) -> LintLevel {
        match self {
            Self::IgnoreComment => LintLevel::Warning,
            _ => LintLevel::Error,
        }
    }
}

impl fmt::Display for LintRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How grave the findings of a rule are.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LintLevel {
    /// `infra lint` ends with 1.
    Error,
    /// It is told.
    Warning,
    /// It is told in passing.
    Note,
    /// The rule does not count.
    Off,
}

impl LintLevel {
    /// All levels, the gravest first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Note, Self::Off];

    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Off => "off",
        }
    }
}

/// `lint:` in `infra.yaml`.
#[derive(Clone, Debug, Default)]
pub struct LintSettings {
    /// The rules of which it speaks.
    pub levels: BTreeMap<LintRule, LintLevel>,
}

impl LintSettings {
    /// Returns how grave a rule is here.
    pub fn level(&self, rule: LintRule) -> LintLevel {
        self.levels.get(&rule).copied().unwrap_or_else(|| rule.usual_level())
    }

    /// Returns whether a rule counts.
    pub fn is_on(&self, rule: LintRule) -> bool {
        self.level(rule) != LintLevel::Off
    }
}
