//! `--fix`: writes what mends findings, file by file, each whole or not at all. Nothing is written through
//! a link, over what a person closed, or outside of the repository.

use std::path::Path;

use crate::atomic_file;
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::lint::Mending;
use crate::model::counted;
use crate::report::Tone;

/// Writes the files, tells each, and returns how many were written.
pub(super) fn write(mendings: &[Mending], border: &Path, context: &Context) -> usize {
    let terminal = &context.terminal;
    let mut written = 0;
    for mending in mendings {
        match write_one(mending, border) {
            Ok(()) => {
                written += 1;
                let word = if mending.is_new { "new" } else { "renewed" };
                terminal.note(&format!("{} {}: {word}", terminal.paint(Tone::Good, "✓"), mending.shown));
            }
            Err(error) => {
                let why = error.body().join("; ");
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                let warning = terminal.paint(Tone::Warn, "warning");
                terminal.alert(&format!("{warning}: {}{why}", error.message()));
            }
        }
    }
    match mendings.len() {
        0 => terminal.note("nothing that `--fix` can write"),
        _ => terminal.note(&format!("{} written", counted(written, "file"))),
    }
    written
}

fn write_one(mending: &Mending, border: &Path) -> Result<()> {
    let refused = |why: &str| Error::failed(format!("`{}` is not written: {why}", mending.shown));
    let content = mending.content.as_ref().map_err(|why| refused(why))?;
    let folder = mending.path.parent().unwrap_or(border);
    let border = border.canonicalize().unwrap_or_else(|_| border.to_path_buf());
    if !folder.canonicalize().is_ok_and(|folder| folder.starts_with(&border)) {
        return Err(refused("it lies outside of the repository"));
    }
    match mending.path.symlink_metadata() {
        Ok(_) if mending.is_new => return Err(refused("something of this name is there already")),
        Ok(found) if !found.is_file() => return Err(refused("it is a link, or no regular file")),
        Ok(found) if found.permissions().readonly() => return Err(refused("it is read-only")),
        Ok(_) | Err(_) => {}
    }
    atomic_file::replace(&mending.path, content.as_bytes())
}
