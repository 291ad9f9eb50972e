//! Units of Terragrunt: folders that another tool makes stacks of, which are none here.

use std::path::Path;

use crate::model::is_skipped_folder;

/// What Terragrunt calls its files.
const FILES: [&str; 2] = ["terragrunt.hcl", "terragrunt.stack.hcl"];

/// How many folders are looked at, where only a remark is at stake.
const LIMIT: usize = 5_000;

/// Returns how many folders of a tree hold files of Terragrunt.
pub fn terragrunt_units(root: &Path) -> usize {
    let mut open = vec![root.to_path_buf()];
    let (mut seen, mut units) = (0, 0);
    while let Some(folder) = open.pop().filter(|_| seen < LIMIT) {
        seen += 1;
        units += usize::from(FILES.iter().any(|file| folder.join(file).is_file()));
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let below = entries.filter(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            is_folder && !is_skipped_folder(&entry.file_name().to_string_lossy())
        });
        open.extend(below.map(|entry| entry.path()));
    }
    units
}
