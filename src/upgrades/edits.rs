//! Which constraints to edit so that stacks take newer versions. A constraint that others share, and one that
//! nobody may edit, stays as it is and holds back whatever must fit it too: what is written can be
//! initialised. Begin at [`plan_edits`].

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use semver::Version;

use super::bump::bump;
use super::judgement::candidates;
use super::requirements::{Requirement, Wanted};
use super::source_file::SourceFile;
use super::survey::{Survey, Use};
use crate::model::StackId;
use crate::tofu::registry::{Dependency, Release};

/// How far to go.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Level {
    /// To the newest of the same major version.
    Minor,
    /// To the newest.
    Newest,
}

/// What limits the edits.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The stacks that were chosen.
    pub chosen: &'a BTreeSet<StackId>,
    /// How far to go.
    pub level: Level,
    /// Tells from which template a file is made.
    pub template_of: &'a dyn Fn(&std::path::Path) -> Option<String>,
}

impl std::fmt::Debug for Bounds<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bounds")
            .field("chosen", self.chosen)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

/// What to edit, and what not.
#[derive(Debug, Default)]
pub struct Edits {
    /// What to edit, in no order.
    pub edits: Vec<Edit>,
    /// What is left although something is newer.
    pub left: Vec<Left>,
}

/// One constraint with its new text.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What it is a constraint of.
    pub dependency: Dependency,
    /// The version that it allows then.
    pub target: Version,
    /// The constraint before.
    pub before: String,
    /// The constraint afterwards.
    pub after: String,
    /// The stacks that read it.
    pub stacks: BTreeSet<StackId>,
    pub(super) requirement: Arc<Requirement>,
}

/// Why something is left.
#[derive(Clone, Debug)]
pub struct Left {
    /// What could be newer.
    pub dependency: Dependency,
    /// The version that is held back.
    pub version: Version,
    /// Where it is held, with file and line.
    pub place: String,
    /// The constraint.
    pub constraint: String,
    /// Why it stays.
    pub why: String,
    /// The stacks to choose too, where that is what it takes.
    pub others: BTreeSet<StackId>,
}

impl Edit {
    /// Returns file and line.
    pub fn place(&self) -> (&str, usize) {
        (self.requirement.place.shown(), self.requirement.place.line())
    }

    /// Returns the file without links.
    pub fn path(&self) -> PathBuf {
        self.requirement.place.path().to_owned()
    }

    pub(super) fn file(&self) -> &SourceFile {
        &self.requirement.place.file
    }
}

/// A constraint that stays as it is.
struct Frozen {
    requirement: Arc<Requirement>,
    why: String,
    others: BTreeSet<StackId>,
}

/// Plans the edits for uses of one dependency by chosen stacks, of which the releases are known.
pub fn plan_edits(
    survey: &Survey,
    uses: &[(&Use, &Version)],
    releases: &[Release],
    bounds: Bounds<'_>,
) -> Edits {
    let mut edits = Edits::default();
    for group in groups(uses) {
        plan_group(survey, &group, releases, bounds, &mut edits);
    }
    edits
}

/// Puts uses together that share a constraint: they need one version.
fn groups<'a>(uses: &[(&'a Use, &'a Version)]) -> Vec<Vec<(&'a Use, &'a Version)>> {
    let mut groups: Vec<Vec<(&Use, &Version)>> = Vec::new();
    for found in uses {
        let (mut sharing, others): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|(other, _)| share(other, found.0)));
        sharing.push(vec![*found]);
        groups = others;
        groups.push(sharing.concat());
    }
    groups
}

fn share(one: &Use, other: &Use) -> bool {
    one.requirements.iter().any(|mine| other.requirements.iter().any(|theirs| mine.is_same(theirs)))
}

fn plan_group(
    survey: &Survey,
    group: &[(&Use, &Version)],
    releases: &[Release],
    bounds: Bounds<'_>,
    edits: &mut Edits,
) {
    let Some(wanted) = newest(group, releases, bounds.level, |_| true) else { return };
    let requirements = requirements_of(group);
    let frozen: Vec<Frozen> =
        requirements.iter().filter_map(|one| frozen(survey, one, &wanted, bounds)).collect();
    let fits = |version: &Version| {
        let is_free = |one: &Frozen| allows(&one.requirement, version);
        let can_be =
            |one: &Arc<Requirement>| one.constraint().is_none_or(|it| !it.excludes_for_good(version));
        frozen.iter().all(is_free) && requirements.iter().all(can_be)
    };
    let target = newest(group, releases, bounds.level, fits);
    if target.as_ref() != Some(&wanted) {
        let holding = frozen.iter().filter(|one| !allows(&one.requirement, &wanted));
        edits.left.extend(holding.filter_map(|one| left(group, &wanted, one)));
    }
    let Some(target) = target else { return };
    for requirement in requirements.iter().filter(|one| !allows(one, &target)) {
        edits.edits.extend(edit(survey, group, requirement, &target));
    }
}

/// Returns the newest version that is newer for one of the uses.
fn newest(
    group: &[(&Use, &Version)],
    releases: &[Release],
    level: Level,
    fits: impl Fn(&Version) -> bool,
) -> Option<Version> {
    let from = group.iter().map(|(_, current)| *current);
    let highest = from.clone().map(|version| version.major).max()?;
    let lowest = from.min()?;
    let all = group.iter().flat_map(|(found, _)| candidates(found, releases));
    let is_near = |version: &&Version| level == Level::Newest || version.major == highest;
    all.filter(|version| *version > lowest && fits(version)).filter(is_near).max().cloned()
}

fn requirements_of(group: &[(&Use, &Version)]) -> Vec<Arc<Requirement>> {
    let mut all: Vec<Arc<Requirement>> = Vec::new();
    for requirement in group.iter().flat_map(|(found, _)| &found.requirements) {
        if all.iter().all(|known| !known.is_same(requirement)) {
            all.push(Arc::clone(requirement));
        }
    }
    all
}

fn allows(requirement: &Requirement, version: &Version) -> bool {
    match &requirement.wanted {
        Wanted::Any => true,
        Wanted::Said { constraint, .. } => constraint.allows(version),
        Wanted::Unclear(_) => false,
    }
}

/// Returns why a constraint may not be edited.
fn frozen(survey: &Survey, found: &Arc<Requirement>, wanted: &Version, bounds: Bounds<'_>) -> Option<Frozen> {
    let place = &found.place;
    let readers = survey.readers_of(place.path());
    let others: BTreeSet<StackId> = readers.difference(bounds.chosen).cloned().collect();
    let stays = |why: String| Some(Frozen { requirement: Arc::clone(found), why, others: BTreeSet::new() });
    let text = match &found.wanted {
        Wanted::Any => return None,
        Wanted::Unclear(text) => return stays(format!("`{text}` is nothing that infra can edit")),
        Wanted::Said { text, .. } => text,
    };
    if let Some(why) = &place.file.obstacle {
        return stays(why.clone());
    }
    if let Some(template) = (bounds.template_of)(place.path()) {
        return stays(format!("the file is made from `{template}`: change it there"));
    }
    if place.file.text.get(place.span.clone()) != Some(&format!("\"{text}\"")) {
        return stays("it is not written as a plain text in quotes".to_owned());
    }
    if !allows(found, wanted) && bump(text, wanted, place.rules).is_none() {
        return stays("no higher bound allows it".to_owned());
    }
    if others.is_empty() {
        return None;
    }
    let names = others.iter().map(StackId::as_str).collect::<Vec<_>>().join(", ");
    Some(Frozen { requirement: Arc::clone(found), why: format!("the file is shared with {names}"), others })
}

fn left(group: &[(&Use, &Version)], wanted: &Version, held: &Frozen) -> Option<Left> {
    let place = &held.requirement.place;
    Some(Left {
        dependency: group.first()?.0.dependency.clone(),
        version: wanted.clone(),
        place: format!("{}:{}", place.shown(), place.line()),
        constraint: held.requirement.text().unwrap_or_default().to_owned(),
        why: held.why.clone(),
        others: held.others.clone(),
    })
}

fn edit(
    survey: &Survey,
    group: &[(&Use, &Version)],
    requirement: &Arc<Requirement>,
    target: &Version,
) -> Option<Edit> {
    let before = requirement.text()?.to_owned();
    Some(Edit {
        dependency: group.first()?.0.dependency.clone(),
        target: target.clone(),
        after: bump(&before, target, requirement.place.rules)?,
        before,
        stacks: survey.readers_of(requirement.place.path()).clone(),
        requirement: Arc::clone(requirement),
    })
}
