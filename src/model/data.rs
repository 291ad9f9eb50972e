//! The values that templates are rendered with: what the data files say, merged.

use serde_json::{Map, Value};

/// The merged values of a project's data files, in the order in which they were read.
pub type Values = Map<String, Value>;

/// A value that a project derives by itself: one entry of `derive.yaml`.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// The name under which templates see it.
    pub name: String,
    /// How it comes about.
    pub formula: Formula,
}

/// How a derived value comes about.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// The value of an expression.
    Expression {
        /// The expression, without delimiters.
        text: String,
        /// `file:line:column`.
        place: String,
    },
    /// A value as it stands: a number, true, false or null.
    Literal(Value),
    /// A list of which every item is a formula.
    List(Vec<Formula>),
    /// A map of which every value is a formula.
    Map(Vec<(String, Formula)>),
}
