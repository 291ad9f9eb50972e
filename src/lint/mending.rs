//! What `--fix` writes, as text: skeletons of the files that a module lacks, and the tables of its README.
//! Nothing is written here. Begin at [`mendings`].

mod module_tables;
mod skeleton;

pub use module_tables::{ModuleTables, Staleness};

use std::fs;
use std::path::PathBuf;

use super::finding::Finding;
use super::folder::{Folder, README};
use crate::model::LintRule;

/// A file as it should be.
#[derive(Debug)]
pub struct Mending {
    /// Where it is.
    pub path: PathBuf,
    /// The same as seen from the project's root.
    pub shown: String,
    /// Whether there is none yet.
    pub is_new: bool,
    /// What should be in it, or why that cannot be said.
    pub content: Result<String, String>,
}

/// Returns the files that would mend findings about files of a folder, and no others.
pub fn mendings(folder: &Folder<'_>, findings: &[&Finding]) -> Vec<Mending> {
    let of = |rule: LintRule| findings.iter().filter(move |finding| finding.rule == rule);
    let missing = of(LintRule::ModuleRequiredFiles).map(|finding| missing_file(folder, &finding.subject));
    let mut found: Vec<Mending> = missing.collect();
    if of(LintRule::ModuleReadme).next().is_some() {
        found.extend(renewed_readme(folder));
    }
    found
}

fn missing_file(folder: &Folder<'_>, name: &str) -> Mending {
    let content = match name {
        README => skeleton::readme(&folder.listed.shown, &ModuleTables::of(folder)),
        name => skeleton::tofu_file(name),
    };
    let (path, shown) = (folder.listed.path.join(name), folder.listed.shown_file(name));
    Mending { path, shown, is_new: true, content: Ok(content) }
}

fn renewed_readme(folder: &Folder<'_>) -> Option<Mending> {
    let name = folder.readme_file()?;
    let (path, shown) = (folder.listed.path.join(name), folder.listed.shown_file(name));
    let read = || {
        let found = fs::symlink_metadata(&path).map_err(|error| error.to_string())?;
        if !found.is_file() {
            return Err("it is a link, or no regular file; nothing is written through it".to_owned());
        }
        let bytes = fs::read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
        ModuleTables::of(folder).renewed_in(&text)
    };
    let content = read();
    Some(Mending { path, shown, is_new: false, content })
}
