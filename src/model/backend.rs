//! Where a stack keeps its state, as far as its configuration tells.

use std::collections::BTreeMap;

/// The backend block of a stack.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Backend {
    /// `backend "http" {}`: served by this program, or by `state.url`.
    Embedded,
    /// No block at all: a `terraform.tfstate` beside the files.
    None,
    /// No block was found, but a file that may hold one cannot be read.
    Unknown,
    /// Any other block, used as it is.
    Configured {
        /// The block's label, such as `s3`.
        kind: String,
        /// Its literal attributes; one that is not a literal is `None`.
        attributes: BTreeMap<String, Option<String>>,
    },
}

impl Backend {
    /// Returns the type as users write it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Embedded => "http",
            Self::None => "local",
            Self::Unknown => "unknown",
            Self::Configured { kind, .. } => kind,
        }
    }

    /// Returns whether tofu can keep several states there, one for each workspace.
    pub fn has_workspaces(&self) -> bool {
        self.kind() != "http"
    }

    /// Returns the literal value of an attribute of a configured block.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        match self {
            Self::Embedded | Self::None | Self::Unknown => None,
            Self::Configured { attributes, .. } => attributes.get(name)?.as_deref(),
        }
    }
}
