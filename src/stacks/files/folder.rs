//! One folder as listed: which OpenTofu files it has, what they link to, what lies
//! below. Opens no file. Begin at [`Folder::list`].

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::tofu_files::in_reading_order;
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
    /// Lists a folder.
    pub fn list(path: &Path) -> io::Result<Self> {
        let mut folder = Self { path: path.to_path_buf(), ..Self::default() };
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(path)? {
            folder.take(&entry?, &mut names)?;
        }
        folder.files = in_reading_order(&names);
        Ok(folder)
    }

    fn take(&mut self, entry: &DirEntry, names: &mut BTreeSet<String>) -> io::Result<()> {
        let kind = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else {
            self.unreadable_names.push(entry.file_name().to_string_lossy().into_owned());
            return Ok(());
        };
        self.is_run_here |= shows_a_run(&name);
        if kind.is_dir() {
            self.subfolders.insert(name);
        } else if is_tofu_file(&name) {
            self.take_tofu_file(entry, name, names);
        }
        Ok(())
    }

    fn take_tofu_file(&mut self, entry: &DirEntry, name: String, names: &mut BTreeSet<String>) {
        let path = entry.path();
        if let Ok(target) = fs::read_link(&path) {
            if fs::metadata(&path).is_ok_and(|found| found.is_dir()) {
                return;
            }
            self.link_targets.push(without_dots(&self.path.join(target)));
            self.link_targets.extend(fs::canonicalize(&path));
        }
        names.insert(name);
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
