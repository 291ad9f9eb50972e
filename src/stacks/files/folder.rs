//! One folder as listed: which OpenTofu files it has, what they link to, what lies
//! below. Opens no file. Begin at [`Folder::list`].

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::tofu_files::in_reading_order;
use super::tree::{Disk, EntryKind, Tree};
use crate::model::is_tofu_file;

/// The contents of a folder as far as finding stacks goes.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// Its absolute path.
    pub path: PathBuf,
    /// Names of the OpenTofu files, in reading order.
    pub files: Vec<String>,
    /// Where the links among the files lead, both at once and at last.
    pub link_targets: Vec<PathBuf>,
    /// Names of the folders below; links to folders are not among them.
    pub subfolders: BTreeSet<String>,
    /// Whether something shows that somebody runs OpenTofu here.
    pub is_run_here: bool,
    /// Names that are not text and are left out.
    pub unreadable_names: Vec<String>,
}

impl Folder {
    /// Lists a folder of the disk.
    pub fn list(path: &Path) -> io::Result<Self> {
        Self::list_in(&Disk, path)
    }

    /// Lists a folder of a tree.
    pub fn list_in(tree: &dyn Tree, path: &Path) -> io::Result<Self> {
        let entries = tree.entries(path)?;
        let mut folder = Self { path: path.to_path_buf(), ..Self::default() };
        let mut names = BTreeSet::new();
        for (name, kind) in entries.iter() {
            match name.to_str() {
                Some(name) => folder.take(name, *kind, tree, &mut names),
                None => folder.unreadable_names.push(name.to_string_lossy().into_owned()),
            }
        }
        folder.files = in_reading_order(&names);
        Ok(folder)
    }

    fn take(&mut self, name: &str, kind: EntryKind, tree: &dyn Tree, names: &mut BTreeSet<String>) {
        self.is_run_here |= shows_a_run(name);
        if kind == EntryKind::Folder {
            self.subfolders.insert(name.to_owned());
        } else if is_tofu_file(name) && (kind == EntryKind::Other || self.take_link(name, tree)) {
            names.insert(name.to_owned());
        }
    }

    /// Notes where a link leads; one that leads to a folder is none of the files.
    fn take_link(&mut self, name: &str, tree: &dyn Tree) -> bool {
        let path = self.path.join(name);
        let Some(target) = tree.link(&path) else { return true };
        let real = tree.real(&path);
        if real.as_ref().is_some_and(|real| tree.is_folder(real)) {
            return false;
        }
        self.link_targets.push(without_dots(&self.path.join(target)));
        self.link_targets.extend(real);
        true
    }

    /// Returns whether links in other folders lead to every file here: shared snippets, not a stack.
    pub fn is_only_linked_to(&self, targets: &BTreeSet<&Path>) -> bool {
        !self.files.is_empty()
            && self.files.iter().all(|file| targets.contains(self.path.join(file).as_path()))
    }

    /// Returns the targets of links that leave the folder.
    pub fn outward_links(&self) -> impl Iterator<Item = &Path> {
        self.link_targets.iter().map(PathBuf::as_path).filter(|target| target.parent() != Some(&self.path))
    }
}

/// Returns whether a name is that of something which a run leaves or needs.
fn shows_a_run(name: &str) -> bool {
    [".terraform", ".terraform.lock.hcl", "terraform.tfstate"].contains(&name)
        || [".tfvars", ".tfvars.json", ".tfbackend", ".sops.yaml", ".sops.json"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Returns the path without `.` and `..`, by its letters alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = clean.pop(),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => clean.push(part),
        }
    }
    clean
}
