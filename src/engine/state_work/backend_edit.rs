//! The file of a stack whose backend block is changed: which it is, and what it will hold.
//!
//! What cannot be edited is refused here, so whoever moves a state asks before anything is
//! copied, and writes once it is. Begin at [`BackendEdit::of`].

use std::path::{Path, PathBuf};

use crate::atomic_file;
use crate::error::{Error, Result, io};
use crate::model::{Backend, Project, Stack};
use crate::stacks::NewBackend;

/// A file with another backend block than it has.
#[derive(Debug)]
pub struct BackendEdit {
    /// The file.
    pub file: PathBuf,
    text: String,
}

impl BackendEdit {
    /// Works out what changes in the files of a stack; `stacks` are all of the project.
    pub fn of(project: &Project, stacks: &[Stack], stack: &Stack, new: &NewBackend) -> Result<Self> {
        let Some(file) = file_of(project, stack) else {
            return Self::new_file(project, stack, new);
        };
        refuse_json(&file, new)?;
        refuse_shared(project, stacks, stack, &file)?;
        let text = std::fs::read_to_string(&file).map_err(io("read", &file))?;
        match new.replace_in(&text, &file)? {
            Some(text) => Ok(Self { file, text }),
            None => Err(Error::failed(format!("`{}` has no backend block any more", file.display()))),
        }
    }

    /// Makes a file for a stack without a block, under a name that hides no other and is hidden by none.
    fn new_file(project: &Project, stack: &Stack, new: &NewBackend) -> Result<Self> {
        if stack.backend == Backend::Unknown {
            let problem = stack.file_remarks().next().cloned().unwrap_or_default();
            return Err(Error::invalid(format!("it is not known which backend `{}` has", stack.id))
                .detail(problem)
                .hint("mend the file that cannot be read"));
        }
        let dir = project.root.join(&stack.path);
        let is_free = |stem: &String| {
            ["tf", "tofu"].iter().all(|end| dir.join(format!("{stem}.{end}")).symlink_metadata().is_err())
        };
        let numbered = (2_u32..).map(|number| format!("backend-{number}"));
        let stem = std::iter::once("backend".to_owned()).chain(numbered).find(is_free).unwrap_or_default();
        Ok(Self { file: dir.join(format!("{stem}.tf")), text: new.file() })
    }

    /// Writes the file.
    pub fn write(&self) -> Result<()> {
        atomic_file::replace(&self.file, self.text.as_bytes())
    }
}

/// Returns the file in which the backend block of a stack stands.
fn file_of(project: &Project, stack: &Stack) -> Option<PathBuf> {
    let (file, _line) = stack.backend_place.as_deref()?.rsplit_once(':')?;
    Some(project.root.join(file))
}

/// JSON has no layout of its own that could be kept; a second block beside it would break the stack.
fn refuse_json(file: &Path, new: &NewBackend) -> Result<()> {
    if file.extension().is_none_or(|end| end != "json") {
        return Ok(());
    }
    Err(Error::invalid(format!("`{}` holds the backend as JSON, which is not edited", file.display()))
        .detail("nothing was copied")
        .hint("take `backend` out of it and put it as a block into a file `backend.tf` beside it, then try again")
        .fact("wanted", format!("backend \"{}\"", new.kind)))
}

/// A file that several stacks link to is the backend of all of them, and only one state is moved.
fn refuse_shared(project: &Project, stacks: &[Stack], stack: &Stack, file: &Path) -> Result<()> {
    let Ok(real) = file.canonicalize() else { return Ok(()) };
    let shares = |other: &&Stack| {
        let its = file_of(project, other).and_then(|file| file.canonicalize().ok());
        other.id != stack.id && its.as_ref() == Some(&real)
    };
    let Some(other) = stacks.iter().find(shares) else { return Ok(()) };
    Err(Error::invalid(format!("`{}` holds the backend of `{}` too", file.display(), other.id))
        .detail("nothing was copied; the state of the other would be left behind")
        .hint(format!("replace the link by a file of its own for `{}`, then try again", stack.id)))
}
