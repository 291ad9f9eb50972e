//! The workspace that somebody selected in a stack's folder, kept over an `init`.
//!
//! Where the selected one is gone, `tofu init` selects the only one that is left without a word, and fails
//! where there are several. Begin at [`KeptSelection::of`].

use std::path::{Path, PathBuf};

use crate::backends::selected_workspace;
use crate::engine::session::Session;
use crate::error::{Result, io};
use crate::model::Stack;

/// What stands in the file of the selection, until it is put back.
#[derive(Debug)]
pub(super) struct KeptSelection {
    file: PathBuf,
    content: Option<Vec<u8>>,
}

impl KeptSelection {
    /// Notes what is selected in a data folder.
    pub fn in_folder(data_dir: &Path) -> Self {
        let file = data_dir.join("environment");
        let content = std::fs::read(&file).ok();
        Self { file, content }
    }

    /// Notes what is selected, and hides it from `init` where the backend does not have it: the stack runs in
    /// another workspace then.
    pub async fn of(session: &Session, stack: &Stack, data_dir: &Path) -> Result<Self> {
        let kept = Self::in_folder(data_dir);
        let selected = selected_workspace(data_dir).filter(|_| stack.backend.has_workspaces());
        if let Some(selected) = selected
            && let Ok(Some(known)) = session.workspaces_of(stack).await
            && !known.contains(&selected)
        {
            remove(&kept.file)?;
        }
        Ok(kept)
    }

    /// Puts back what was selected.
    pub fn put_back(self) -> Result<()> {
        match self.content {
            Some(bytes) if std::fs::read(&self.file).ok().as_deref() == Some(bytes.as_slice()) => Ok(()),
            Some(bytes) => std::fs::write(&self.file, bytes).map_err(io("write", &self.file)),
            None => remove(&self.file),
        }
    }
}

fn remove(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", file)(error)),
        _ => Ok(()),
    }
}
