//! One comparison of a version constraint, as OpenTofu writes them: `~> 1.12.0`, `< 2`.

use std::cmp::Ordering;

use semver::Version;

/// One comparison.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Term {
    /// How versions are compared.
    pub operator: Operator,
    /// What they are compared with.
    pub bound: Version,
    /// How many of the three numbers were written.
    pub parts: usize,
}

/// How a version is compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operator {
    /// `=`, or nothing.
    Equal,
    /// `!=`.
    NotEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `~>`: only the last number that is written may grow.
    Pessimistic,
}

/// The operators by how they are written, longer ones first.
const OPERATORS: [(&str, Operator); 7] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("!=", Operator::NotEqual),
    ("~>", Operator::Pessimistic),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
];

impl Term {
    /// Reads a comparison.
    pub fn parse(text: &str) -> Option<Self> {
        let (operator, rest) = split(text);
        let (bound, parts) = parse_partial(rest)?;
        Some(Self { operator, bound, parts })
    }

    /// Returns whether a version is one of those that it means.
    pub fn allows(&self, version: &Version) -> bool {
        let order = version.cmp_precedence(&self.bound);
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Greater => order == Ordering::Greater,
            Operator::GreaterOrEqual => order != Ordering::Less,
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Pessimistic => order != Ordering::Less && self.same_but_last(version),
        }
    }

    /// Returns whether only the last number that was written may differ.
    fn same_but_last(&self, version: &Version) -> bool {
        let major = self.parts < 2 || version.major == self.bound.major;
        let minor = self.parts < 3 || version.minor == self.bound.minor;
        major && minor
    }
}

/// Splits a comparison into its operator and the text of its version.
pub fn split(text: &str) -> (Operator, &str) {
    let text = text.trim();
    let written = OPERATORS.iter().find_map(|(sign, op)| Some((*op, text.strip_prefix(sign)?)));
    let (operator, rest) = written.unwrap_or((Operator::Equal, text));
    (operator, rest.trim())
}

/// Reads `1`, `1.12`, `1.12.6` or `v1.12.6-rc1`; returns how many numbers there were.
pub fn parse_partial(text: &str) -> Option<(Version, usize)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (numbers, rest) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let parts = numbers.split('.').count();
    let whole = match parts {
        1 => format!("{numbers}.0.0{rest}"),
        2 => format!("{numbers}.0{rest}"),
        _ => text.to_owned(),
    };
    Some((Version::parse(&whole).ok()?, parts))
}
