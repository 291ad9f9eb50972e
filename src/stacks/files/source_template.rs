//! Where a local module may lie whose source only tofu can evaluate: `./servers/${var.cloud}` leads
//! to any folder of `servers`.

use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::tree::Tree;

/// Stands for what is filled in; no path has it.
const ANYTHING: char = '\0';

/// Returns the folders with tofu files that a source can lead to, as it is written; none where it is no
/// template of a relative path.
pub fn possible_folders(tree: &dyn Tree, dir: &Path, source: &str) -> Vec<PathBuf> {
    let Some(pattern) = pattern(source) else { return Vec::new() };
    if !pattern.starts_with("./") && !pattern.starts_with("../") {
        return Vec::new();
    }
    let is_vague = pattern.split('/').all(|part| part.trim_matches(['.', ANYTHING]).is_empty());
    let mut found = vec![dir.to_owned()];
    for part in pattern.split('/') {
        found = match part.split_once(ANYTHING) {
            Some(ends) => found.iter().flat_map(|above| folders_like(tree, above, ends)).collect(),
            None => found.iter().map(|above| above.join(part)).collect(),
        };
    }
    // What any name would lead to may as well be a stack.
    let fits = |folder: Folder| !folder.files.is_empty() && (!is_vague || !folder.is_run_here);
    found.retain(|path| Folder::list_in(tree, path).is_ok_and(fits));
    found
}

/// Returns a quoted template with a mark for all that is filled in; `None` where there is none.
fn pattern(source: &str) -> Option<String> {
    let mut rest = source.trim().strip_prefix('"')?.strip_suffix('"')?;
    let mut pattern = String::new();
    while let Some((literal, after)) = rest.split_once("${") {
        pattern.push_str(literal);
        pattern.push(ANYTHING);
        rest = &after[end_of_filling(after)?..];
    }
    (!pattern.is_empty()).then(|| pattern + rest)
}

/// Returns where what is filled in ends; it may have braces of its own.
fn end_of_filling(text: &str) -> Option<usize> {
    let mut depth = 1_usize;
    for (index, char) in text.char_indices() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

fn folders_like(tree: &dyn Tree, above: &Path, (start, end): (&str, &str)) -> Vec<PathBuf> {
    let end = end.rsplit(ANYTHING).next().unwrap_or_default();
    let entries = tree.entries(above).unwrap_or_default();
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or(".");
        !name.starts_with('.') && name.starts_with(start) && name.ends_with(end) && tree.is_folder(path)
    };
    let mut found: Vec<PathBuf> = entries.iter().map(|(name, _)| above.join(name)).filter(fits).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::super::tree::Disk;
    use super::*;

    #[test]
    fn a_template_leads_to_every_folder_that_fits_and_has_files_of_tofu() {
        let temp = tempfile::tempdir().expect("a folder");
        for path in ["m/aws/main.tf", "m/gcp/main.tf", "m/docs/readme.md", "m/x-1/v/main.tf", "n/main.tf"] {
            let path = temp.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let found = |source: &str| {
            let found = possible_folders(&Disk, temp.path(), source).into_iter();
            let below =
                found.map(|path| path.strip_prefix(temp.path()).expect("below").display().to_string());
            below.collect::<Vec<_>>()
        };

        assert_eq!(found(r#""./m/${var.cloud}""#), ["m/aws", "m/gcp"]);
        assert_eq!(found(r#""./m/x-${lookup({a = "1/2"}, "a")}/v""#), ["m/x-1/v"]);
        assert_eq!(found(r#""./${var.x}""#), ["n"]);
        assert_eq!(found(r#""git::https://x/${var.y}""#), [""; 0]);
        assert_eq!(found(r#""./m/${var.cloud""#), [""; 0]);
        assert_eq!(found("local.source"), [""; 0]);
    }
}
