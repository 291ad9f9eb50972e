//! Raises a constraint so that it allows a version: the same operators, as many numbers as before, every
//! space where it was.

use semver::Version;

use super::constraint::{Constraint, Rules, allows};
use crate::tofu::{Operator, Term, split_term};

/// Returns the constraint that allows a version; nothing if it cannot be made to by a higher bound.
pub(super) fn bump(text: &str, target: &Version, rules: Rules) -> Option<String> {
    let parts = text.split(',').map(|part| bump_part(part, target, rules)).collect::<Option<Vec<_>>>()?;
    let bumped = parts.join(",");
    Constraint::parse(&bumped, rules)?.allows(target).then_some(bumped)
}

fn bump_part(part: &str, target: &Version, rules: Rules) -> Option<String> {
    let term = Term::parse(part)?;
    if allows(&term, target, rules) {
        return Some(part.to_owned());
    }
    let (_, written) = split_term(part);
    let start = part.rfind(written)?;
    let prefix = if written.starts_with('v') { "v" } else { "" };
    let raised = raised(&term, target)?;
    Some(format!("{}{prefix}{raised}{}", part.get(..start)?, part.get(start + written.len()..)?))
}

/// Returns the version to compare with instead.
fn raised(term: &Term, target: &Version) -> Option<String> {
    match term.operator {
        Operator::Pessimistic => Some(with_parts(target, term.parts)),
        Operator::Equal => Some(exactly(target, term.parts)),
        Operator::LessOrEqual => Some(exactly(target, term.parts)),
        Operator::Less => Some(with_parts(&above(&term.bound, target), term.parts)),
        Operator::NotEqual | Operator::Greater | Operator::GreaterOrEqual => None,
    }
}

/// Writes as many numbers as before, or all where less would mean another version.
fn exactly(version: &Version, parts: usize) -> String {
    let is_zero = |part: usize| if part == 1 { version.minor == 0 } else { version.patch == 0 };
    let is_enough = version.pre.is_empty() && (parts..3).all(is_zero);
    with_parts(version, if is_enough { parts } else { 3 })
}

fn with_parts(version: &Version, parts: usize) -> String {
    match parts {
        1 => version.major.to_string(),
        2 => format!("{}.{}", version.major, version.minor),
        _ if version.pre.is_empty() => format!("{}.{}.{}", version.major, version.minor, version.patch),
        _ => format!("{}.{}.{}-{}", version.major, version.minor, version.patch, version.pre),
    }
}

/// Returns the bound above a version that ends where the old one did: `< 6.0` the next major version, `< 5.2`
/// the next minor one.
fn above(bound: &Version, target: &Version) -> Version {
    match (bound.minor, bound.patch) {
        (0, 0) => Version::new(target.major + 1, 0, 0),
        (_, 0) => Version::new(target.major, target.minor + 1, 0),
        _ => Version::new(target.major, target.minor, target.patch + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bumped(text: &str, target: &str) -> Option<String> {
        bump(text, &Version::parse(target).unwrap(), Rules::Providers)
    }

    #[test]
    fn operators_precision_and_spaces_stay() {
        for (before, target, after) in [
            ("~> 5.1.0", "5.4.2", "~> 5.4.2"),
            ("~> 5.1", "6.2.3", "~> 6.2"),
            ("~>5", "6.2.3", "~>6"),
            (" ~>  5.1.0 ", "6.0.0", " ~>  6.0.0 "),
            (">= 5.0, < 6.0", "6.3.1", ">= 5.0, < 7.0"),
            (">= 5.0.0,<5.2.0", "5.4.1", ">= 5.0.0,<5.5.0"),
            ("< 5.2.3", "5.4.1", "< 5.4.2"),
            ("<= 5.9", "6.3.1", "<= 6.3.1"),
            ("<= 5.9", "6.3.0", "<= 6.3"),
            ("5.1.0", "5.4.2", "5.4.2"),
            ("= 5", "6.0.0", "= 6"),
            ("=v5.1", "5.4.2", "=v5.4.2"),
            ("5.1.0-beta1", "5.1.0-rc1", "5.1.0-rc1"),
            ("~> 5.1, ~> 5.1.3", "5.4.2", "~> 5.1, ~> 5.4.2"),
            (">= 5.0", "5.4.2", ">= 5.0"),
        ] {
            assert_eq!(bumped(before, target).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn what_a_higher_bound_cannot_change_is_left() {
        for (before, target) in [("~> 5.1, != 5.4.2", "5.4.2"), ("> 7", "6.0.0"), ("latest", "6.0.0")] {
            assert_eq!(bumped(before, target), None, "{before}");
        }
    }
}
