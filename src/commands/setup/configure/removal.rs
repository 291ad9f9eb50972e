//! A `configure` that takes much away asks first, says what goes and why, and refuses where nobody
//! can be asked: one line of the data may be all that was changed.

use crate::commands::Context;
use crate::error::{Error, Result};
use crate::model::{Project, counted};
use crate::render::{Inputs, Manifest, Overwrite, Removal, RemovedFile, TreeChanges, is_secret_file};
use crate::report::{Asking, Tone};
use crate::secrets::is_sealed;

/// How many files are named.
const NAMED: usize = 12;

/// How many edited files are named.
const EDITED: usize = 3;

/// What the tree was made of and from, and what it is made from now.
#[derive(Clone, Copy)]
pub(super) struct GeneratedTree<'a> {
    pub project: &'a Project,
    pub before: &'a Manifest,
    pub inputs: &'a Inputs,
}

/// Returns what goes, where it is much and nobody forced it.
pub(super) fn much(changes: &TreeChanges, overwrite: Overwrite) -> Option<Removal> {
    if overwrite == Overwrite::Force {
        return None;
    }
    Removal::of(changes, &|path, bytes| is_secret_file(path) || is_sealed(path, bytes))
}

/// Asks whether the files may go; an error where they may not.
pub(super) async fn ask(removal: &Removal, made: GeneratedTree<'_>, context: &Context) -> Result<()> {
    let Asking::Person(terminal) = context.asking() else { return Err(nobody_to_ask(removal, made)) };
    let warning = terminal.paint(Tone::Warn, "warning");
    terminal.alert(&format!("{warning}: this would remove {}:", words(removal)));
    names(removal)
        .iter()
        .chain(&reasons(removal, made))
        .for_each(|line| terminal.alert(&format!("  {line}")));
    let question = if removal.files.len() == 1 { "Remove it?" } else { "Remove them?" };
    let yes = context.ask(&terminal, question, "stopped before anything was written").await?;
    if yes { Ok(()) } else { Err(Error::failed("nothing was written; all files are as they were")) }
}

fn nobody_to_ask(removal: &Removal, made: GeneratedTree<'_>) -> Error {
    let message =
        format!("this would remove {}; that has to be asked, but there is no terminal", words(removal));
    let error = names(removal).into_iter().fold(Error::usage(message), Error::detail);
    reasons(removal, made)
        .into_iter()
        .fold(error, Error::detail)
        .detail("nothing was written")
        .hint("see what would go: `infra configure --diff`")
        .hint("remove it: `infra configure --force`")
}

/// Says how much goes: `9 of 10 generated files, 1 of them encrypted`.
pub(super) fn words(removal: &Removal) -> String {
    let files = match (removal.files.len(), removal.total) {
        (1, 1) => "the only generated file".to_owned(),
        (gone, total) if gone == total => format!("all {total} generated files"),
        (gone, total) => format!("{gone} of {}", counted(total, "generated file")),
    };
    match (removal.encrypted(), removal.files.len()) {
        (0, _) => files,
        (1, 1) => format!("{files}, which is encrypted"),
        (encrypted, gone) if encrypted == gone => format!("{files}, all encrypted"),
        (encrypted, _) => format!("{files}, {encrypted} of them encrypted"),
    }
}

fn names(removal: &Removal) -> Vec<String> {
    let name = |file: &RemovedFile| {
        let mark = if file.encrypted { " (encrypted)" } else { "" };
        format!("{}{mark}", file.path.display())
    };
    let mut names: Vec<String> = removal.files.iter().take(NAMED).map(name).collect();
    if removal.files.len() > NAMED {
        names.push(format!("and {} more", removal.files.len() - NAMED));
    }
    names
}

/// Says why: what became of the templates, and what was edited.
fn reasons(removal: &Removal, made: GeneratedTree<'_>) -> Vec<String> {
    let origins = removal.files.iter().filter_map(|file| made.before.origin_of(&file.path));
    let (there, gone): (Vec<&str>, Vec<&str>) = origins
        .partition(|origin| origin.starts_with("built-in ") || made.project.root.join(origin).exists());
    let templates = match (there.len(), gone.len()) {
        (0, 0) => None,
        (0, _) => Some("their templates are gone".to_owned()),
        (_, 0) => Some("their templates are there, and no longer render them".to_owned()),
        (there, gone) => Some(format!("{} gone, {there} no longer rendered", counted(gone, "template"))),
    };
    let edited = made.before.inputs().map(|before| made.inputs.changed_since(before)).unwrap_or_default();
    let more = edited.len().saturating_sub(EDITED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let named = edited.iter().take(EDITED).copied().collect::<Vec<_>>().join(", ");
    let edited = format!("{named}{more} changed since the last `infra configure`");
    let edited = (!named.is_empty()).then_some(edited);
    [templates, edited].into_iter().flatten().collect()
}
