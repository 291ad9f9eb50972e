//! A folder for one run in place of `.infra`, where a checkout cannot be written.
//!
//! tofu checks a configuration without writing beside it, so `validate` does so too: in a container
//! with the code mounted read-only, or in somebody else's checkout.

use std::io::ErrorKind;

use tempfile::TempDir;

use crate::model::Project;

/// Gives a project that cannot be written a folder of its own; it is removed when the returned value is dropped.
pub fn use_temporary_folder(project: &mut Project) -> Option<TempDir> {
    let dir = project.infra_dir();
    let place = if dir.is_dir() { dir } else { project.root.clone() };
    let refused = tempfile::tempfile_in(place).err()?;
    if !matches!(refused.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
        return None;
    }
    let folder = tempfile::Builder::new().prefix("infra-validate-").tempdir().ok()?;
    project.borrowed_dir = Some(folder.path().join(".infra"));
    Some(folder)
}
