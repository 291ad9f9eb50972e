//! Files that this program edits for a person although a template makes them: the edit stays
//! only if the template says the same, which is told at the edit.

use std::path::Path;

use crate::commands::Context;
use crate::model::Project;
use crate::project;
use crate::render::{Manifest, template_of};
use crate::report::Tone;

/// Tells which template to change, where a file is made from one.
pub fn warn_of_edit(project: &Project, file: &Path, context: &Context) {
    let Some((file, template)) = found(project, file) else { return };
    let warning = context.terminal.paint(Tone::Warn, "warning");
    context.terminal.note(&format!("{warning}: `{file}` is generated from `{template}`: change that too"));
    context.terminal.note(
        "  until then `infra configure` stops at this edit; with `--force`, or in a fresh clone, it puts the \
         old text back",
    );
}

/// The same for a file that may be in no project at all.
pub fn warn_of_edit_anywhere(file: &Path, context: &Context) {
    let root = file.parent().and_then(|folder| project::find_root(folder).ok());
    if let Some(project) = root.and_then(|root| project::load(&root).ok()) {
        warn_of_edit(&project, file, context);
    }
}

/// Returns the template that a file is made from.
pub(super) fn template_behind(project: &Project, file: &Path) -> Option<String> {
    found(project, file).map(|(_, template)| template)
}

/// Returns a file by its path below the root, and the template it is made from.
fn found(project: &Project, file: &Path) -> Option<(String, String)> {
    let (root, real) = (project.root.canonicalize().ok()?, file.canonicalize().ok()?);
    let below = real.strip_prefix(root).ok()?;
    let manifest = Manifest::load(&project.infra_dir()).ok();
    let noted = manifest.and_then(|manifest| manifest.origin_of(below).map(str::to_owned));
    let template = noted.or_else(|| template_of(&project.root, &project.configure, below))?;
    Some((below.display().to_string(), template))
}
