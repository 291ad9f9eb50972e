//! The folders of a project, with the names of the files in them. Hidden folders and `tests` are left out,
//! links to folders are not entered. Opens no file. Begin at [`walk`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::model::{is_module_folder, is_skipped_folder, is_tofu_file};

/// Folders of a module in which it is shown or tried out: they belong to it.
const PARTS_OF_A_MODULE: [&str; 6] = ["example", "examples", "fixture", "fixtures", "test", "tests"];

/// The endings of files with values for variables.
const VALUE_ENDINGS: [&str; 2] = [".tfvars", ".tfvars.json"];

/// A folder with files that may be judged.
#[derive(Debug)]
pub struct ListedFolder {
    /// Its path.
    pub path: PathBuf,
    /// Its path as seen from the project's root; empty for the root itself.
    pub shown: String,
    /// Names of all its files.
    pub names: BTreeSet<String>,
    /// Names of those of its files that are links.
    pub links: BTreeSet<String>,
    /// Whether its place says that it is a module.
    pub is_module_by_place: bool,
}

impl ListedFolder {
    /// Returns a file as seen from the project's root.
    pub fn shown_file(&self, name: &str) -> String {
        if self.shown.is_empty() { name.to_owned() } else { format!("{}/{name}", self.shown) }
    }

    /// Returns whether OpenTofu reads any file of it.
    pub fn has_tofu_files(&self) -> bool {
        self.names.iter().any(|name| is_tofu_file(name))
    }

    fn is_of_interest(&self) -> bool {
        self.names.iter().any(|name| is_tofu_file(name) || is_value_file(name))
    }
}

/// Returns whether a file gives values to variables.
pub fn is_value_file(name: &str) -> bool {
    VALUE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns every folder below a root that has files to be judged, and remarks about what was left out.
pub fn walk(root: &Path) -> (Vec<ListedFolder>, Vec<String>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    let mut open = vec![(root.to_path_buf(), String::new(), Zone::Outside)];
    while let Some((path, shown, zone)) = open.pop() {
        let (folder, below) = match list(&path, shown) {
            Ok(listed) => listed,
            Err(error) => {
                notes.push(format!("`{}` cannot be read: {error}", path.display()));
                continue;
            }
        };
        for name in below {
            if !is_skipped_folder(&name) && name != "node_modules" {
                open.push((path.join(&name), folder.shown_file(&name), zone.below(&name)));
            }
        }
        if folder.is_of_interest() {
            found.push(ListedFolder { is_module_by_place: zone == Zone::Modules, ..folder });
        }
    }
    (found, notes)
}

/// Lists one folder, and the names of those below it; a name that is not text is left out.
pub fn list(path: &Path, shown: String) -> std::io::Result<(ListedFolder, Vec<String>)> {
    let mut folder = ListedFolder {
        path: path.to_path_buf(),
        shown,
        names: BTreeSet::new(),
        links: BTreeSet::new(),
        is_module_by_place: false,
    };
    let mut below = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        if kind.is_dir() {
            below.push(name);
            continue;
        }
        if kind.is_symlink() {
            if fs::metadata(entry.path()).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            folder.links.insert(name.clone());
        }
        folder.names.insert(name);
    }
    Ok((folder, below))
}

/// What the place of a folder says of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Zone {
    Outside,
    /// Below a module folder.
    Modules,
    /// Shows or tries out a module.
    PartOfModule,
}

impl Zone {
    fn below(self, name: &str) -> Self {
        match self {
            Self::Outside if is_module_folder(name) => Self::Modules,
            Self::Modules if PARTS_OF_A_MODULE.contains(&name) => Self::PartOfModule,
            zone => zone,
        }
    }
}

/// Returns whether a path lies in a folder that shows or tries out a module.
pub fn is_part_of_module(shown: &str) -> bool {
    shown.split('/').fold(Zone::Outside, Zone::below) == Zone::PartOfModule
}
