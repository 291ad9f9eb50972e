//! Turns `tofu.version` of `infra.yaml` into the versions it allows and the one to install.
//!
//! The syntax is that of `required_version`: an exact version, or terms such as
//! `>= 1.11, < 2` and `~> 1.12.0`. A version below the floor never satisfies, a
//! pre-release only where it is named exactly. Begin at [`Constraint::of`].

use semver::Version;

mod terms;

use super::version::{FLOOR, PIN};
use crate::error::{Error, Result};
use crate::model::TofuSettings;
pub(super) use terms::parse_partial;
pub use terms::{Operator, Term, split as split_term};

/// Which versions of OpenTofu a project can use.
#[derive(Clone, Debug)]
pub struct Constraint {
    text: String,
    terms: Vec<Term>,
}

impl Constraint {
    /// Reads the settings; without a version, any release from the floor up to the next major one will do.
    pub fn of(settings: &TofuSettings) -> Result<Self> {
        match &settings.version {
            Some(text) => Self::parse(text),
            None => Self::parse(&format!(">= {FLOOR}, < {}", PIN.major + 1)),
        }
    }

    /// Reads a constraint as it stands in `infra.yaml`.
    pub fn parse(text: &str) -> Result<Self> {
        let terms = text.split(',').map(term).collect::<Option<Vec<_>>>();
        let terms = terms.ok_or_else(|| malformed(text))?;
        let constraint = Self { text: text.trim().to_owned(), terms };
        match constraint.exact() {
            Some(version) if *version < FLOOR => Err(below_floor(version)),
            _ => Ok(constraint),
        }
    }

    /// Returns whether a version will do.
    pub fn allows(&self, version: &Version) -> bool {
        let released = version.pre.is_empty() || self.exact() == Some(version);
        released && *version >= FLOOR && self.terms.iter().all(|term| term.allows(version))
    }

    /// Returns the one version that is asked for, where it is only one.
    pub fn exact(&self) -> Option<&Version> {
        self.terms.iter().find(|term| term.operator == Operator::Equal).map(|term| &term.bound)
    }

    /// Returns the version to install when none is found: the exact one, or the pin where it will do.
    pub fn target(&self) -> Result<Version> {
        let target = self.exact().cloned().unwrap_or(PIN);
        if self.allows(&target) {
            return Ok(target);
        }
        Err(Error::invalid(format!("`tofu.version` is `{self}`, which does not allow OpenTofu {target}"))
            .detail(format!("without an exact version only {PIN} is installed"))
            .hint("name one exact version that was released below `tofu:` in infra.yaml"))
    }
}

impl std::fmt::Display for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a comparison; `1.12` could mean 1.12.0 or any 1.12, and a question is better than a guess.
fn term(text: &str) -> Option<Term> {
    let is_exact = |term: &Term| matches!(term.operator, Operator::Equal | Operator::NotEqual);
    Term::parse(text).filter(|term| term.parts == 3 || !is_exact(term))
}

fn malformed(text: &str) -> Error {
    Error::invalid(format!("`tofu.version` is `{text}`, which is no version of OpenTofu"))
        .detail("expected an exact version with three numbers, or comparisons separated by commas")
        .hint("write `\"1.12.6\"`, `\">= 1.11.3, < 2\"` or `\"~> 1.12.0\"`")
}

/// Makes the error for a version that is too old to be run.
pub(super) fn below_floor(version: &Version) -> Error {
    Error::invalid(format!("OpenTofu {version} is too old: at least {FLOOR} is needed"))
        .detail(format!("before {FLOOR}, Ctrl-C left the lock of an http state held"))
        .hint(format!("use `version: \"{PIN}\"` below `tofu:` in infra.yaml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(constraint: &str, versions: &[&str]) -> Vec<bool> {
        let constraint = Constraint::parse(constraint).expect("a constraint");
        versions.iter().map(|text| constraint.allows(&Version::parse(text).expect("a version"))).collect()
    }

    #[test]
    fn without_a_version_any_release_of_this_major_from_the_floor_on_will_do() {
        let constraint = Constraint::of(&TofuSettings::default()).expect("the default is valid");

        let allows = |text| constraint.allows(&Version::parse(text).expect("a version"));

        assert!(allows("1.11.3") && allows("1.12.6") && allows("1.40.0"));
        assert!(!allows("1.11.2") && !allows("2.0.0") && !allows("1.13.0-beta1"));
        assert_eq!(constraint.target().expect("the pin will do"), PIN);
    }

    #[test]
    fn an_exact_version_allows_only_itself() {
        for text in ["1.12.5", "= 1.12.5", "v1.12.5", "=1.12.5"] {
            assert_eq!(allowed(text, &["1.12.5", "1.12.6", "1.12.4"]), [true, false, false], "{text}");
        }
        assert_eq!(allowed("1.13.0-rc1", &["1.13.0-rc1", "1.13.0"]), [true, false]);
    }

    #[test]
    fn every_operator_compares_as_in_required_version() {
        assert_eq!(
            allowed(">= 1.12, < 2", &["1.11.9", "1.12.0", "1.99.0", "2.0.0"]),
            [false, true, true, false]
        );
        assert_eq!(allowed("> 1.12.0, != 1.12.2", &["1.12.0", "1.12.1", "1.12.2"]), [false, true, false]);
        assert_eq!(allowed("<= 1.12.1", &["1.12.1", "1.12.2"]), [true, false]);
        assert_eq!(allowed("~> 1.12.3", &["1.12.2", "1.12.9", "1.13.0"]), [false, true, false]);
        assert_eq!(allowed("~> 1.12", &["1.11.9", "1.13.0", "2.0.0"]), [false, true, false]);
    }

    #[test]
    fn nothing_below_the_floor_is_ever_allowed() {
        assert_eq!(allowed("< 1.12.0", &["1.11.2", "1.11.3"]), [false, true]);

        let error = Constraint::parse("1.10.0").expect_err("it is below the floor");

        assert!(error.to_string().contains("Ctrl-C"), "{error}");
    }

    #[test]
    fn a_constraint_that_excludes_the_pin_asks_for_an_exact_version() {
        let error =
            Constraint::parse("< 1.12.0").and_then(|one| one.target()).expect_err("the pin is too new");

        assert!(error.message().contains("does not allow OpenTofu 1.12.6"), "{error}");
        assert!(error.hints()[0].contains("exact version"), "{error}");
    }

    #[test]
    fn what_is_no_constraint_is_refused() {
        for text in ["", "1.12", "= 1.12", "latest", ">=", "~> x", "1.12.6,", ">> 1.12.6", "1.2.3.4"] {
            assert!(Constraint::parse(text).is_err(), "{text:?}");
        }
    }
}
