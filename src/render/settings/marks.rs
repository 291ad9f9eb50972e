//! The texts around the tags of a template.

/// What marks the tags of a template.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Marks {
    /// Around statements.
    pub block: (String, String),
    /// Around values.
    pub variable: (String, String),
    /// Around comments.
    pub comment: (String, String),
}
