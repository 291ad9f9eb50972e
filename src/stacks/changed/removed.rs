//! Stacks that are gone: no OpenTofu file is left in their folders. One whose files lie in a new
//! stack was renamed.

use std::collections::BTreeSet;
use std::path::Path;

use super::side::Side;
use crate::model::StackId;
use crate::stacks::files::{Folder, Tree};

/// A stack that has another id than it had.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Renamed {
    /// What it was called.
    pub from: StackId,
    /// What it is called.
    pub to: StackId,
}

/// Returns the stacks that are gone, with their folders.
pub fn removed<'s>(before: &'s Side<'_>, now: &Side<'_>, tree: &dyn Tree) -> Vec<(&'s Path, StackId)> {
    let known: BTreeSet<&StackId> = now.stacks().flat_map(|(_, ids)| ids).collect();
    let is_gone = |folder: &Path| Folder::list_in(tree, folder).map_or(true, |found| found.files.is_empty());
    let folders = before.stacks().filter(|(_, ids)| ids.iter().any(|id| !known.contains(id)));
    let gone = folders.filter(|(folder, _)| is_gone(folder));
    let ids = gone.flat_map(|(folder, ids)| ids.iter().map(move |id| (folder, id.clone())));
    ids.filter(|(_, id)| !known.contains(id)).collect()
}

/// Returns which of the stacks that are gone are there under another id: half of their files or more
/// are the same, or `was` says it.
pub fn renamed(
    gone: &[(&Path, StackId)],
    now: &Side<'_>,
    new: &BTreeSet<StackId>,
    (old_tree, tree): (&dyn Tree, &dyn Tree),
) -> Vec<Renamed> {
    let fresh: Vec<(&Path, &StackId)> = now
        .stacks()
        .flat_map(|(folder, ids)| ids.iter().map(move |id| (folder, id)))
        .filter(|(_, id)| new.contains(*id))
        .collect();
    let find = |(folder, from): &(&Path, StackId)| {
        let said = fresh.iter().find(|(_, to)| now.book.settings_for(to).was.as_ref() == Some(from));
        let workspace = |id: &StackId| id.as_str().rsplit_once('@').map(|(_, name)| name.to_owned());
        let alike = || {
            let fits = |to: &StackId| workspace(to) == workspace(from);
            fresh.iter().find(|(other, to)| fits(to) && is_alike((old_tree, folder), (tree, other)))
        };
        let to = said.or_else(alike)?.1.clone();
        Some(Renamed { from: from.clone(), to })
    };
    gone.iter().filter_map(find).collect()
}

fn is_alike((old_tree, old): (&dyn Tree, &Path), (tree, new): (&dyn Tree, &Path)) -> bool {
    let Ok(files) = Folder::list_in(old_tree, old).map(|folder| folder.files) else { return false };
    let same = files.iter().filter(|name| {
        let before = old_tree.content(&old.join(name));
        before.is_ok_and(|before| {
            !before.is_empty() && tree.content(&new.join(name)).is_ok_and(|now| now == before)
        })
    });
    same.count() * 2 >= files.len().max(1)
}
