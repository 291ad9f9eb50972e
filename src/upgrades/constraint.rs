//! What a constraint of a provider, a module or OpenTofu itself allows. Pre-releases count only where they are
//! named exactly, as for OpenTofu.

use semver::Version;

use crate::tofu::{Operator, Term};

/// Whose rules a constraint follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rules {
    /// Of providers: `~> 5` stays below 6.
    Providers,
    /// Of modules and of `required_version`: `~> 5` has no end.
    Others,
}

/// A constraint that was understood.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Constraint {
    terms: Vec<Term>,
    rules: Rules,
}

impl Constraint {
    /// Reads a constraint; an empty one allows everything.
    pub fn parse(text: &str, rules: Rules) -> Option<Self> {
        let parts = text.split(',').filter(|_| !text.trim().is_empty());
        let terms = parts.map(Term::parse).collect::<Option<Vec<_>>>()?;
        Some(Self { terms, rules })
    }

    /// Returns whether a version will do.
    pub fn allows(&self, version: &Version) -> bool {
        let is_named = |term: &Term| term.operator == Operator::Equal && term.bound == *version;
        let is_meant = version.pre.is_empty() || self.terms.iter().any(is_named);
        is_meant && self.terms.iter().all(|term| allows(term, version, self.rules))
    }

    /// Returns whether it names a pre-release, so that others may be of interest.
    pub fn names_pre_release(&self) -> bool {
        self.terms.iter().any(|term| !term.bound.pre.is_empty())
    }

    /// Returns whether what it says about a version cannot be changed by a higher bound.
    pub(super) fn excludes_for_good(&self, version: &Version) -> bool {
        self.terms.iter().any(|term| !allows(term, version, self.rules) && !is_upper(term.operator))
    }
}

/// Returns whether a version fits one comparison.
pub(super) fn allows(term: &Term, version: &Version, rules: Rules) -> bool {
    let is_open = term.operator == Operator::Pessimistic && term.parts == 1;
    let stays = !is_open || rules == Rules::Others || version.major == term.bound.major;
    stays && term.allows(version)
}

/// Returns whether a comparison says how high a version may be.
const fn is_upper(operator: Operator) -> bool {
    match operator {
        Operator::Equal | Operator::Less | Operator::LessOrEqual | Operator::Pessimistic => true,
        Operator::NotEqual | Operator::Greater | Operator::GreaterOrEqual => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str, rules: Rules) -> String {
        let constraint = Constraint::parse(text, rules).unwrap();
        let versions = ["4.9.0", "5.0.0", "5.1.0", "5.1.9", "5.2.0-rc1", "5.2.0", "6.0.0"];
        let fits = versions.iter().filter(|text| constraint.allows(&Version::parse(text).unwrap()));
        fits.copied().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn constraints_allow_what_opentofu_takes() {
        assert_eq!(allowed("~> 5.1.0", Rules::Providers), "5.1.0 5.1.9");
        assert_eq!(allowed("~>5.1", Rules::Providers), "5.1.0 5.1.9 5.2.0");
        assert_eq!(allowed("~> 5", Rules::Providers), "5.0.0 5.1.0 5.1.9 5.2.0");
        assert_eq!(allowed("~> 5", Rules::Others), "5.0.0 5.1.0 5.1.9 5.2.0 6.0.0");
        assert_eq!(allowed(">= 5.1, < 6, != 5.1.9", Rules::Providers), "5.1.0 5.2.0");
        assert_eq!(allowed("5.1", Rules::Providers), "5.1.0");
        assert_eq!(allowed("5.2.0-rc1", Rules::Others), "5.2.0-rc1");
        assert_eq!(allowed(">= 5.2.0-rc1", Rules::Others), "5.2.0 6.0.0");
        assert_eq!(allowed(" ", Rules::Others), "4.9.0 5.0.0 5.1.0 5.1.9 5.2.0 6.0.0");
        for text in ["latest", "5.x", ">= ", "1.2.3.4", "5,", ",5"] {
            assert_eq!(Constraint::parse(text, Rules::Providers), None, "{text}");
        }
    }
}
