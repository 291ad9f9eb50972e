//! Walks a tree and lists every folder that has OpenTofu files. Hidden folders and
//! `tests` are skipped, links to folders are not entered. Opens no file. Begin at [`walk`].

use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::tree::{Disk, Tree};
use crate::model::{is_module_folder, is_skipped_folder};

/// How many folders are looked at outside the stack root, where only a remark is at stake.
const OUTSIDE_LIMIT: usize = 2_000;

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walk {
    /// Folders with OpenTofu files that may be stacks.
    pub folders: Vec<Folder>,
    /// Folders with OpenTofu files below a module folder.
    pub modules: Vec<Folder>,
    /// What could not be looked at.
    pub notes: Vec<String>,
    seen: usize,
}

/// Which folders a walk leaves out, beside those that every walk skips.
#[derive(Debug, Default)]
pub struct Boundaries {
    /// The project's root, for names in remarks.
    pub base: PathBuf,
    /// Absolute paths that are not entered.
    pub skipped: Vec<PathBuf>,
}

/// Walks the tree below a stack root.
pub fn walk(tree: &dyn Tree, start: &Path, boundaries: &Boundaries) -> Walk {
    let mut walk = Walk::default();
    walk.visit(tree, start, Zone::Stacks, boundaries, usize::MAX);
    walk
}

/// Walks the project outside its stack root; module folders are of no interest there.
pub fn walk_outside(boundaries: &Boundaries) -> Walk {
    let mut walk = Walk::default();
    walk.visit(&Disk, &boundaries.base, Zone::Stacks, boundaries, OUTSIDE_LIMIT);
    walk
}

/// Whether a folder is below a module folder.
#[derive(Clone, Copy, PartialEq)]
enum Zone {
    Stacks,
    Modules,
}

impl Walk {
    fn visit(&mut self, tree: &dyn Tree, path: &Path, zone: Zone, boundaries: &Boundaries, limit: usize) {
        self.seen += 1;
        if self.seen > limit {
            return;
        }
        let mut folder = match Folder::list_in(tree, path) {
            Ok(folder) => folder,
            Err(error) => return self.note(path, boundaries, &format!("cannot be read: {error}")),
        };
        for name in folder.unreadable_names.drain(..) {
            self.note(&path.join(name), boundaries, "is left out: its name is not UTF-8");
        }
        for name in std::mem::take(&mut folder.subfolders) {
            let below = path.join(&name);
            if is_entered(&name, &below, boundaries) {
                self.visit(tree, &below, zone_below(zone, &name), boundaries, limit);
            }
        }
        match zone {
            _ if folder.files.is_empty() => {}
            Zone::Stacks => self.folders.push(folder),
            Zone::Modules => self.modules.push(folder),
        }
    }

    fn note(&mut self, path: &Path, boundaries: &Boundaries, what: &str) {
        let name = path.strip_prefix(&boundaries.base).unwrap_or(path);
        self.notes.push(format!("`{}` {what}", name.display()));
    }
}

/// Returns whether a folder is looked into; packages of node are module folders only by their name.
fn is_entered(name: &str, path: &Path, boundaries: &Boundaries) -> bool {
    let is_skipped = boundaries.skipped.iter().any(|skipped| skipped == path);
    !is_skipped && !is_skipped_folder(name) && name != "node_modules"
}

fn zone_below(zone: Zone, name: &str) -> Zone {
    if is_module_folder(name) { Zone::Modules } else { zone }
}
