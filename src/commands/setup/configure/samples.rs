//! Data files that a project keeps out of git, and the samples that they begin as.

use std::path::{Path, PathBuf};

use crate::commands::shell_folder;
use crate::model::quoted;
use crate::project::sample_of;

/// Returns how the missing data files begin, as a command for the shell that asked.
///
/// A fresh clone has none of them: `cluster.yaml` is everybody's own, `cluster.sample.yaml` is in git.
pub(super) fn copy_samples(root: &Path, files: &[String]) -> Option<String> {
    let missing = files.iter().filter(|file| root.join(file).symlink_metadata().is_err());
    let copies = missing.filter_map(|file| {
        let file = Path::new(file);
        let sample = sample_of(root, file)?;
        Some(format!("cp {} {}", place(root, &sample), place(root, file)))
    });
    let copies: Vec<String> = copies.collect();
    let command = copies.join(" && ");
    (!copies.is_empty()).then(|| format!("copy the sample and fill it in: `{command}`"))
}

/// Returns a file as the shell that asked reaches it, without a dash in front.
fn place(root: &Path, file: &Path) -> String {
    let is_here = shell_folder().is_some_and(|shell| shell == root);
    let shown = if is_here { file.to_path_buf() } else { root.join(file) };
    let shown: PathBuf = shown.components().collect();
    let shown = shown.display().to_string();
    quoted(&if shown.starts_with('-') { format!("./{shown}") } else { shown })
}
