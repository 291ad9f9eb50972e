//! What is newer than what is used: what the constraints allow already, and, apart from each other, the
//! newest of the same major version and the newest of all. Pure.

use semver::Version;

use super::constraint::Constraint;
use super::requirements::{Requirement, Wanted};
use super::survey::Use;
use crate::tofu::registry::Release;

/// What was found about one use.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Judgement {
    /// What the lock file holds; else the newest that is allowed, which a fresh `init` takes.
    pub current: Option<Version>,
    /// The newest that every constraint allows.
    pub allowed: Option<Version>,
    /// The newest of the same major version, if that is newer.
    pub minor: Option<Step>,
    /// The newest of a higher major version.
    pub major: Option<Step>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// A way to a newer version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// The version.
    pub version: Version,
    /// What it takes.
    pub way: Way,
}

/// What a newer version takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// The constraints allow it: `init -upgrade` takes it.
    Upgrade,
    /// A constraint has to be edited first.
    Edit,
}

impl Judgement {
    /// Returns whether anything is newer.
    pub const fn is_outdated(&self) -> bool {
        self.minor.is_some() || self.major.is_some()
    }
}

/// Judges one use by the releases there are.
pub fn judge(found: &Use, releases: &[Release]) -> Judgement {
    let allowed = newest(releases.iter().map(|release| &release.version), |version| {
        found.requirements.iter().all(|one| allows(one, version))
    });
    let current = found.locked.clone().or_else(|| allowed.clone());
    let Some(from) = current.clone() else {
        return Judgement { warnings: vec![nothing_fits(found)], ..Judgement::default() };
    };
    let candidates: Vec<&Version> = candidates(found, releases).filter(|version| **version > from).collect();
    let step = |is_meant: &dyn Fn(&Version) -> bool| {
        let version = newest(candidates.iter().copied(), is_meant)?;
        let way =
            if found.requirements.iter().all(|one| allows(one, &version)) { Way::Upgrade } else { Way::Edit };
        Some(Step { version, way })
    };
    let (minor, major) =
        (step(&|version| version.major == from.major), step(&|version| version.major > from.major));
    let warnings = warnings(&from, releases, [&minor, &major]);
    Judgement { current, allowed, minor, major, warnings }
}

/// Returns the versions that are of interest: pre-releases only where a constraint names one.
pub fn candidates<'a>(found: &Use, releases: &'a [Release]) -> impl Iterator<Item = &'a Version> {
    let constraints = found.requirements.iter().filter_map(|one| one.constraint());
    let with_pre_releases = constraints.into_iter().any(Constraint::names_pre_release);
    let versions = releases.iter().map(|release| &release.version);
    versions.filter(move |version| with_pre_releases || version.pre.is_empty())
}

/// What is unclear may forbid anything.
fn allows(requirement: &Requirement, version: &Version) -> bool {
    match &requirement.wanted {
        Wanted::Any => version.pre.is_empty(),
        Wanted::Said { constraint, .. } => constraint.allows(version),
        Wanted::Unclear(_) => false,
    }
}

fn newest<'a>(
    versions: impl Iterator<Item = &'a Version>,
    is_meant: impl Fn(&Version) -> bool,
) -> Option<Version> {
    versions.filter(|version| is_meant(version)).max().cloned()
}

fn nothing_fits(found: &Use) -> String {
    let unclear = found.requirements.iter().find(|one| matches!(one.wanted, Wanted::Unclear(_)));
    if let Some(one) = unclear {
        let (text, place) = (one.text().unwrap_or_default(), &one.place);
        return format!("{}:{}: `{text}` is no constraint that infra can read", place.shown(), place.line());
    }
    let texts = found.requirements.iter().filter_map(|one| one.text());
    format!("no release fits `{}`", texts.collect::<Vec<_>>().join("` and `"))
}

/// A lock file does not say for which platforms it is used. Those of the release in use may be; one that is
/// dropped is told.
fn warnings(from: &Version, releases: &[Release], steps: [&Option<Step>; 2]) -> Vec<String> {
    let release = |version: &Version| releases.iter().find(|release| release.version == *version);
    let Some(used) = release(from) else {
        return vec![format!("{from} is no longer listed")];
    };
    let mut warnings = Vec::new();
    for step in steps.into_iter().flatten() {
        let platforms = release(&step.version).and_then(|release| release.platforms.as_ref());
        let (Some(before), Some(after)) = (&used.platforms, platforms) else { continue };
        let gone: Vec<&str> = before.iter().filter(|one| !after.contains(one)).map(String::as_str).collect();
        if !gone.is_empty() {
            warnings.push(format!("{} has no package for {}, {from} has", step.version, gone.join(", ")));
        }
    }
    warnings
}
