//! The Python code that could run: everything that can be imported below a folder.
//!
//! A plugin may import any module beside it and any package below, so all of it counts for
//! the yes of a person. Folders whose name is no identifier cannot be imported.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result, io};

/// More files than any plugin has; a folder with more is no place for one.
const MOST: usize = 20_000;

/// What Python imports.
const SUFFIXES: [&str; 4] = ["py", "pyc", "so", "pyd"];

/// Digests the names and contents of everything importable below a folder.
pub(super) fn digest_code(folder: &Path, digest: &mut Sha256) -> Result<()> {
    let mut files = BTreeSet::new();
    collect(folder, &mut BTreeSet::new(), &mut files)?;
    for path in files {
        digest.update(path.strip_prefix(folder).unwrap_or(&path).as_os_str().as_encoded_bytes());
        digest.update([0]);
        let mut content = Sha256::new();
        let mut file = std::fs::File::open(&path).map_err(io("read", &path))?;
        std::io::copy(&mut file, &mut content).map_err(io("read", &path))?;
        digest.update(content.finalize());
    }
    Ok(())
}

/// Links are followed as Python follows them; a ring ends at a folder that was seen.
fn collect(folder: &Path, seen: &mut BTreeSet<PathBuf>, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    let Ok(real) = std::fs::canonicalize(folder) else { return Ok(()) };
    if !seen.insert(real) {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(io("read", folder))?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if is_package(&path) {
                collect(&path, seen, files)?;
            }
        } else if path.is_file() && is_code(&path) {
            files.insert(path);
        }
        if files.len() > MOST {
            return Err(Error::invalid(format!(
                "`{}` has too many Python files for a plugin",
                folder.display()
            ))
            .at("makejinja.toml")
            .hint("say with `import_paths` in which folder the plugin is"));
        }
    }
    Ok(())
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| SUFFIXES.iter().any(|known| suffix == *known))
}

/// Compiled files are never read, so their folder does not count.
fn is_package(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let starts = name.starts_with(|sign: char| sign.is_alphabetic() || sign == '_');
    name != "__pycache__" && starts && name.chars().all(|sign| sign.is_alphanumeric() || sign == '_')
}
