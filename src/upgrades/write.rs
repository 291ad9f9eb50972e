//! Writes edits: each file whole, all of them or none.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::edits::Edit;
use super::source_file::SourceFile;
use crate::atomic_file;
use crate::error::{Error, Result, io};

/// Edits the files. One that is another than the one that was read is refused before anything is written;
/// where one cannot be written, the others get their text back.
pub fn write(edits: &[Edit]) -> Result<()> {
    let mut files: BTreeMap<PathBuf, Vec<&Edit>> = BTreeMap::new();
    for edit in edits {
        files.entry(edit.path()).or_default().push(edit);
    }
    let changes = files.values().map(|edits| Change::of(edits)).collect::<Result<Vec<_>>>()?;
    let mut written: Vec<&Change> = Vec::new();
    for change in &changes {
        if let Err(error) = atomic_file::replace(&change.path, &change.after) {
            for done in written {
                // It was written a moment ago; were that to fail now, the first error says more.
                let _ = atomic_file::replace(&done.path, &done.before);
            }
            return Err(error.detail("nothing was edited"));
        }
        written.push(change);
    }
    Ok(())
}

struct Change {
    path: PathBuf,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Change {
    fn of(edits: &[&Edit]) -> Result<Self> {
        let file = edits.first().map(|edit| edit.file()).ok_or_else(|| Error::bug("a file without edits"))?;
        let before = fs::read(&file.path).map_err(io("read", &file.path))?;
        if before.get(file.lead..) != Some(file.text.as_bytes()) {
            let changed = format!("`{}` was changed by somebody else meanwhile", file.shown);
            return Err(Error::failed(changed).detail("nothing was edited").hint("try again"));
        }
        let text = edited(file, edits)?;
        let after = [before.get(..file.lead).unwrap_or_default(), text.as_bytes()].concat();
        Ok(Self { path: file.path.clone(), before, after })
    }
}

/// Returns the text with every edit in it, made from its end on, so that places stay.
fn edited(file: &SourceFile, edits: &[&Edit]) -> Result<String> {
    let mut text = file.text.clone();
    let mut edits: Vec<&&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.requirement.place.span.start));
    for edit in edits {
        let span = edit.requirement.place.span.clone();
        if text.get(span.clone()) != Some(&format!("\"{}\"", edit.before)) {
            return Err(Error::bug(format!("an edit of `{}` does not fit", file.shown)));
        }
        text.replace_range(span, &format!("\"{}\"", edit.after));
    }
    Ok(text)
}
