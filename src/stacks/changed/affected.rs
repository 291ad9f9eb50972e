//! From changed paths to affected stacks, with the reasons of each. Begin at [`Affected::find`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::change::{Before, Now, PathChange};
use super::removed::{Renamed, removed, renamed};
use super::settings_changes::{concerns_all, is_kept, is_same, moves_states, says_otherwise};
use super::side::{Reach, Side};
use crate::model::StackId;
use crate::stacks::files::Tree;

/// What is compared.
#[expect(missing_debug_implementations, reason = "it borrows trees, which have none")]
pub struct Comparison<'a> {
    /// The side before.
    pub before: &'a Side<'a>,
    /// The tree before.
    pub old_tree: &'a dyn Tree,
    /// The side now.
    pub now: &'a Side<'a>,
    /// The tree now.
    pub tree: &'a dyn Tree,
    /// What is different.
    pub changes: &'a [PathChange],
    /// `infra.yaml`, if it changed.
    pub settings: Option<&'a Path>,
    /// Whether what it said before makes no sense.
    pub unclear: bool,
}

/// The stacks that a change concerns.
#[derive(Clone, Debug, Default)]
pub struct Affected {
    /// The affected stacks that are there, each with the paths that changed.
    pub stacks: BTreeMap<StackId, BTreeSet<Reason>>,
    /// Stacks that are gone.
    pub removed: Vec<StackId>,
    /// Those of them that are there under another id.
    pub renamed: Vec<Renamed>,
}

/// Why a stack is affected.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Reason {
    /// The path that changed, absolute.
    pub path: PathBuf,
    /// How it concerns the stack.
    pub way: Way,
}

/// How a path concerns a stack.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Way {
    /// It is a file of the stack.
    Own,
    /// It is a file of a module, the last of these; the others lead there.
    Modules(Vec<PathBuf>),
    /// `infra.yaml` gives it to the stack, or it is a file of secrets above it.
    Named,
    /// It is what says something else of the stack: `infra.yaml`.
    Settings,
    /// A file is rendered from it that concerns the stack.
    Rendered(PathBuf),
    /// It made the folder a stack.
    Became,
}

impl Affected {
    /// Finds the stacks that changes concern.
    pub fn find(comparison: &Comparison<'_>) -> Self {
        let mut affected = Self::default();
        for change in comparison.changes {
            if change.before != Before::Nothing {
                affected.take(comparison, comparison.before, change);
            }
            if change.now != Now::Nothing {
                affected.take(comparison, comparison.now, change);
            }
        }
        affected.take_settings(comparison);
        affected.take_new(comparison);
        affected.take_removed(comparison);
        affected
    }

    /// Takes in what a change means on one side.
    fn take(&mut self, comparison: &Comparison<'_>, side: &Side<'_>, change: &PathChange) {
        for (id, reach) in side.reach(&change.path, change.is_whole()) {
            let way = match (change.because.is_empty(), reach) {
                (false, _) => Way::Rendered(change.path.clone()),
                (true, Reach::Own) => Way::Own,
                (true, Reach::Named) => Way::Named,
                (true, Reach::Module(module)) => Way::Modules(modules(side, &id, module)),
            };
            let own = [change.path.clone()];
            let paths = if change.because.is_empty() { own.as_slice() } else { &change.because };
            for id in ids_now(comparison, side, &id) {
                for path in paths {
                    self.add(&id, Reason { path: path.clone(), way: way.clone() });
                }
            }
        }
    }

    fn add(&mut self, id: &StackId, reason: Reason) {
        let reasons = self.stacks.entry(id.clone()).or_default();
        if !reasons.iter().any(|known| known.path == reason.path) {
            reasons.insert(reason);
        }
    }

    /// Takes in what `infra.yaml` says otherwise.
    fn take_settings(&mut self, comparison: &Comparison<'_>) {
        let Comparison { before, now, settings: Some(file), unclear, .. } = *comparison else { return };
        let (old, new) = (before.project, now.project);
        if !unclear && is_same(old, new) {
            return;
        }
        let all = unclear || concerns_all(old, new);
        for id in now.stacks().flat_map(|(_, ids)| ids) {
            if all || says_otherwise(before, now, id) || (moves_states(old, new) && is_kept(now, id)) {
                self.add(id, Reason { path: file.to_owned(), way: Way::Settings });
            }
        }
    }

    /// Takes in what became a stack without a change of its own: it was a module, or outside the root.
    fn take_new(&mut self, comparison: &Comparison<'_>) {
        let known = ids(comparison.before);
        for (folder, own) in comparison.now.stacks() {
            for id in own.iter().filter(|id| !known.contains(*id)) {
                if !self.stacks.contains_key(id) {
                    for path in causes(comparison, folder) {
                        self.add(id, Reason { path, way: Way::Became });
                    }
                }
            }
        }
    }

    fn take_removed(&mut self, comparison: &Comparison<'_>) {
        let Comparison { before, now, old_tree, tree, .. } = *comparison;
        let gone = removed(before, now, tree);
        let old = ids(before);
        let new = ids(now).into_iter().filter(|id| !old.contains(*id)).cloned().collect();
        self.renamed = renamed(&gone, now, &new, (old_tree, tree));
        let mut ids: Vec<StackId> = gone.into_iter().map(|(_, id)| id).collect();
        ids.sort();
        ids.dedup();
        self.removed = ids;
    }
}

fn ids<'s>(side: &'s Side<'_>) -> BTreeSet<&'s StackId> {
    side.stacks().flat_map(|(_, ids)| ids).collect()
}

/// Returns the modules from a stack to one that it uses, that one included.
fn modules(side: &Side<'_>, id: &StackId, module: PathBuf) -> Vec<PathBuf> {
    let way = side.folder_of(id).map(|folder| side.way_to(folder, &module)).unwrap_or_default();
    way.into_iter().chain([module]).collect()
}

/// Returns what a stack of one side is called now; nothing if it is gone.
fn ids_now(comparison: &Comparison<'_>, side: &Side<'_>, id: &StackId) -> Vec<StackId> {
    if comparison.now.folder_of(id).is_some() {
        return vec![id.clone()];
    }
    let Some(folder) = side.folder_of(id) else { return Vec::new() };
    comparison.now.ids_in(folder).to_vec()
}

/// Returns the changed paths that may have made a folder a stack.
fn causes(comparison: &Comparison<'_>, folder: &Path) -> Vec<PathBuf> {
    let used_it = |change: &&PathChange| {
        let above = change.path.parent().and_then(|parent| comparison.before.library().folder(parent));
        above.is_some_and(|read| read.uses.contains(folder))
    };
    let users: Vec<PathBuf> =
        comparison.changes.iter().filter(used_it).map(|change| change.path.clone()).collect();
    if !users.is_empty() {
        return users;
    }
    let settings = comparison.settings.map(Path::to_owned);
    match settings {
        Some(file) => vec![file],
        None => comparison.changes.iter().take(1).map(|change| change.path.clone()).collect(),
    }
}
