//! Which plain variable files a stack is given beside those that tofu finds by itself.
//!
//! Those that `infra.yaml` names; else the only one in the folder. Several are an error:
//! a guess between `dev.tfvars` and `prod.tfvars` is worse than a question.

use std::path::{Path, PathBuf};

use super::secret_names::is_secret;
use crate::error::{Error, Result, io};
use crate::model::{StackId, quoted};
use crate::secrets::is_sealed;

/// Returns the variable files of a stack, relative to its folder.
pub fn var_files(stack: &StackId, dir: &Path, named: &[String]) -> Result<Vec<PathBuf>> {
    let plain =
        |files: Vec<PathBuf>| files.into_iter().filter(|file| !is_sealed_file(&dir.join(file))).collect();
    if !named.is_empty() {
        let files: Result<Vec<PathBuf>> = named.iter().map(|file| existing(stack, dir, file)).collect();
        return files.map(plain);
    }
    let found = candidates(dir)?;
    if found.len() > 1 {
        return Err(Error::invalid(format!(
            "`{stack}` has several variable files: `{}`",
            found.join("`, `")
        ))
        .at(dir.display())
        .hint(format!(
            "name those to use in infra.yaml: `stacks: {{ \"{stack}\": {{ var_files: [{}] }} }}`",
            found[0]
        ))
        .hint(format!(
            "or for one run: `--var-file {}`",
            quoted(&dir.join(&found[0]).display().to_string())
        )));
    }
    Ok(plain(found.into_iter().map(PathBuf::from).collect()))
}

/// Returns the files among those that are encrypted: they are opened like secrets.
pub(super) fn sealed_var_files(dir: &Path, named: &[String]) -> Vec<PathBuf> {
    let files = match named {
        [] => candidates(dir).unwrap_or_default(),
        named => named.to_vec(),
    };
    // Several that nobody named are a question, and no guess.
    if named.is_empty() && files.len() > 1 {
        return Vec::new();
    }
    files.into_iter().map(|file| dir.join(file)).filter(|path| is_sealed_file(path)).collect()
}

/// Returns whether a file is encrypted with SOPS or Ansible Vault, by its content.
fn is_sealed_file(path: &Path) -> bool {
    let is_small = std::fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.len() <= LARGEST);
    let bytes = if is_small { std::fs::read(path).unwrap_or_default() } else { Vec::new() };
    !bytes.is_empty() && is_sealed(path, &bytes)
}

/// A larger file is no list of variables.
const LARGEST: u64 = 10 * 1024 * 1024;

fn existing(stack: &StackId, dir: &Path, file: &str) -> Result<PathBuf> {
    if dir.join(file).is_file() {
        return Ok(file.into());
    }
    Err(Error::invalid(format!("`{stack}` names a variable file that is not there: `{file}`"))
        .at("infra.yaml: var_files")
        .hint(format!("paths are relative to `{}`", dir.display())))
}

fn candidates(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(io("read", dir))? {
        let name = entry.map_err(io("read", dir))?.file_name().to_string_lossy().into_owned();
        if is_candidate(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn is_candidate(name: &str) -> bool {
    let variables = name.ends_with(".tfvars") || name.ends_with(".tfvars.json");
    let tofus_own =
        ["terraform.tfvars", "terraform.tfvars.json"].contains(&name) || name.contains(".auto.tfvars");
    variables && !tofus_own && !is_secret(name) && !name.starts_with("schema") && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for name in names {
            std::fs::write(dir.path().join(name), "").expect("a writable folder");
        }
        dir
    }

    #[test]
    fn a_single_variable_file_is_taken_and_tofus_own_are_left_to_it() {
        let names = [
            "vms.tfvars",
            "terraform.tfvars",
            "x.auto.tfvars",
            "secrets.tfvars",
            "schema.tfvars",
            "a.tfvars.example",
        ];
        let dir = folder(&names);

        let files = var_files(&StackId::new("a"), dir.path(), &[]);

        assert_eq!(files.expect("one file"), [PathBuf::from("vms.tfvars")]);
    }

    #[test]
    fn several_variable_files_are_a_question_and_not_a_guess() {
        let dir = folder(&["dev.tfvars", "prod.tfvars"]);

        let error = var_files(&StackId::new("a"), dir.path(), &[]).expect_err("two files");

        assert!(error.message().contains("`dev.tfvars`, `prod.tfvars`"), "{error}");
        let named = var_files(&StackId::new("a"), dir.path(), &["prod.tfvars".to_owned()]);
        assert_eq!(named.expect("a named file"), [PathBuf::from("prod.tfvars")]);
    }

    #[test]
    fn a_named_file_that_is_missing_is_an_error() {
        let dir = folder(&[]);

        let error = var_files(&StackId::new("a"), dir.path(), &["x.tfvars".to_owned()]).expect_err("no file");

        assert!(error.message().contains("`x.tfvars`"));
    }
}
