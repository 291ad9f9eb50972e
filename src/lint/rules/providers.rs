//! `provider-version-pin` and `lock-file-committed`: which providers a stack runs with, today and tomorrow.

use crate::lint::files::DeclarationKind;
use crate::lint::finding::{Finding, FindingPlace};
use crate::lint::folder::{Folder, Merged};
use crate::lint::surroundings::IgnoredPaths;
use crate::model::{LintRule, Stack, quoted};
use crate::syntax::Setting;

/// What OpenTofu calls it.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// How a version is restricted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Pin {
    /// Not at all.
    None,
    /// With `~>`.
    Pessimistic,
    /// To one version.
    Exact(String),
    /// In another way.
    Loose(String),
    /// In a way that only OpenTofu can tell.
    Unknown,
}

/// Reads a constraint.
pub fn pin(version: Option<&Setting>) -> Pin {
    let text = match version {
        None => return Pin::None,
        Some(Setting::Literal(text)) => text.trim(),
        Some(Setting::Expression(written)) if written.trim_start_matches(['"', ' ']).starts_with("~>") => {
            return Pin::Pessimistic;
        }
        Some(Setting::Expression(_) | Setting::Map(_)) => return Pin::Unknown,
    };
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [] => Pin::None,
        parts if parts.iter().any(|part| part.starts_with("~>")) => Pin::Pessimistic,
        [only] => match exact_version(only) {
            Some(version) => Pin::Exact(version.to_owned()),
            None => Pin::Loose(text.to_owned()),
        },
        _ => Pin::Loose(text.to_owned()),
    }
}

/// Returns the version of `1.2.3` and of `= 1.2.3`.
fn exact_version(part: &str) -> Option<&str> {
    let version = part.strip_prefix('=').unwrap_or(part).trim();
    version.trim_start_matches('v').starts_with(|digit: char| digit.is_ascii_digit()).then_some(version)
}

/// Judges the providers that a stack requires.
pub fn provider_pins(folder: &Folder<'_>) -> Vec<Finding> {
    let entries = folder.declared(DeclarationKind::RequiredProvider);
    entries.iter().filter_map(|entry| judge(entry)).collect()
}

fn judge(entry: &Merged<'_>) -> Option<Finding> {
    let name = &entry.block.name;
    let version = match entry.value("entry") {
        Some(Setting::Map(map)) => {
            let source = map.get("source").and_then(Setting::literal).unwrap_or_default();
            // The provider that is a part of OpenTofu has no versions.
            if source.starts_with("terraform.io/builtin/") {
                return None;
            }
            map.get("version")
        }
        other => other,
    };
    let message = match pin(version) {
        Pin::Pessimistic | Pin::Unknown => return None,
        Pin::None => format!("provider `{name}` takes any version: pin it, such as `version = \"~> 1.2\"`"),
        Pin::Exact(version) => {
            format!("provider `{name}` is pinned to exactly `{version}`: `~> {version}` takes its fixes too")
        }
        Pin::Loose(version) => {
            format!("provider `{name}` takes any version that `{version}` allows: pin it with `~>`")
        }
    };
    let rule = LintRule::ProviderVersionPin;
    Some(Finding::new(rule, entry.place.clone(), entry.block.subject(), message))
}

/// Judges the lock file of a stack in a folder.
pub fn lock_file(folder: &Folder<'_>, stack: &Stack, ignored: &IgnoredPaths) -> Option<Finding> {
    let providers: Vec<String> =
        stack.installed_providers().into_iter().map(|name| format!("`{name}`")).collect();
    let first = providers.first()?;
    // Where git leaves the whole stack out, there is nothing to commit.
    if ignored.holds(folder.listed.shown.as_ref()) {
        return None;
    }
    let file = folder.listed.shown_file(LOCK_FILE);
    let what = match providers.len() {
        1 => first.clone(),
        more => format!("{first} and {} more", more - 1),
    };
    let message = if !folder.listed.names.contains(LOCK_FILE) {
        let id = quoted(stack.base_id().as_str()).to_string();
        format!(
            "there is no lock file, so {what} may be another one tomorrow: `infra init {id}`, then commit it"
        )
    } else if ignored.holds(file.as_ref()) {
        format!(
            "git ignores the lock file, so {what} may be another one elsewhere: take it out of `.gitignore`, then commit it"
        )
    } else {
        return None;
    };
    Some(Finding::new(LintRule::LockFileCommitted, FindingPlace::start_of(file), "lock-file", message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_is_pinned_exact_loose_or_none() {
        let of = |text: &str| pin(Some(&Setting::Literal(text.to_owned())));

        for pinned in ["~> 5.0", "~>5", ">= 1.0, ~> 1.2"] {
            assert_eq!(of(pinned), Pin::Pessimistic, "{pinned}");
        }
        for exact in ["5.31.0", "= 5.31.0", "=5.31.0"] {
            assert_eq!(of(exact), Pin::Exact("5.31.0".to_owned()), "{exact}");
        }
        for loose in [">= 5.0", "> 1, < 2", "!= 3.0"] {
            assert_eq!(of(loose), Pin::Loose(loose.to_owned()), "{loose}");
        }
        assert_eq!((of(""), of(" , "), pin(None)), (Pin::None, Pin::None, Pin::None));
        assert_eq!(pin(Some(&Setting::Expression("\"~> ${var.v}\"".into()))), Pin::Pessimistic);
        assert_eq!(pin(Some(&Setting::Expression("var.v".into()))), Pin::Unknown);
    }
}
