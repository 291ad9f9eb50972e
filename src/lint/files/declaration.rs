//! What a file declares, as far as rules ask.

use std::collections::BTreeMap;

use crate::syntax::Setting;

/// What is declared.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DeclarationKind {
    /// A `module` block.
    Module,
    /// A `variable` block.
    Variable,
    /// An `output` block.
    Output,
    /// An entry of `required_providers`.
    RequiredProvider,
}

impl DeclarationKind {
    /// Returns the word for it in addresses and messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Variable => "variable",
            Self::Output => "output",
            Self::RequiredProvider => "required_providers",
        }
    }
}

/// A block, or an entry of `required_providers`.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What it is.
    pub kind: DeclarationKind,
    /// Its name.
    pub name: String,
    /// Where it begins.
    pub at: usize,
    /// Its arguments; `null` is none, but it stands there.
    pub arguments: BTreeMap<String, Option<Setting>>,
}

impl Declaration {
    /// Returns what it is about: `variable.size`.
    pub fn subject(&self) -> String {
        format!("{}.{}", self.kind.word(), self.name)
    }
}
