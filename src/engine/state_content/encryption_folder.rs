//! A folder in which tofu knows how a stack encrypts its state, and nothing else of the stack.
//!
//! There tofu opens bytes that are the state of that stack wherever they come from, an old version
//! or what a broken run left behind, and tries a new backend. It gets the variables through a pipe;
//! what lies in the folder is as encrypted as it came. Begin at [`EncryptionFolder::of`].

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::encryption_excerpt::{Kept, excerpt};
use crate::engine::session::Session;
use crate::engine::stack::bare_run;
use crate::engine::variables::{SearchedPart, declares, with_early_values};
use crate::error::{Error, Result, io};
use crate::model::{Stack, is_tofu_file};
use crate::process::Invocation;
use crate::syntax;

/// Such a folder; it goes away with this.
#[derive(Debug)]
pub struct EncryptionFolder {
    /// Nobody else can look into it.
    _all: TempDir,
    dir: PathBuf,
    /// Whether the files of the stack say anything about encryption.
    declares: bool,
}

impl EncryptionFolder {
    /// Makes it; for a stack whose files say nothing about encryption it is empty.
    pub fn of(session: &Session, stack: &Stack) -> Result<Self> {
        let all = temporary()?;
        let from = session.dir_of(stack);
        let declares = declares(&from, SearchedPart::Anything);
        let dir = match declares {
            true => copy_of(&from, &session.project.root, all.path(), Kept::Encryption)?,
            false => all.path().to_owned(),
        };
        Ok(Self { _all: all, dir, declares })
    }

    /// Makes one in which tofu knows the backend of the stack too.
    pub fn with_backend(session: &Session, stack: &Stack) -> Result<Self> {
        let all = temporary()?;
        let dir = copy_of(&session.dir_of(stack), &session.project.root, all.path(), Kept::Backend)?;
        Ok(Self { _all: all, dir, declares: true })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns a call in it, still without a subcommand, with the variables that encryption refers to.
    pub async fn call(&self, session: &Session, stack: &Stack) -> Result<Invocation> {
        let run = bare_run(session, stack);
        let base = session.call_in(stack, &run.env, &self.dir)?;
        let base = base.env("TF_DATA_DIR", ".terraform").without_env("TF_WORKSPACE");
        Ok(if self.declares { with_early_values(session, &run, base).await } else { base })
    }
}

fn temporary() -> Result<TempDir> {
    tempfile::tempdir().map_err(|error| Error::unavailable("no temporary folder").because(error))
}

/// Copies what the files of a stack say about encryption; whatever else they may read is linked to,
/// up to the root of the project, so that relative paths lead where they do in the stack's folder.
fn copy_of(from: &Path, root: &Path, into: &Path, kept: Kept) -> Result<PathBuf> {
    let (mut here, mut copy) = (root.to_owned(), into.to_owned());
    let below = from.strip_prefix(root).map(Path::to_owned).unwrap_or_default();
    if below.as_os_str().is_empty() {
        here = from.to_owned();
    }
    for step in below.components() {
        link_all(&here, &copy, |name| name != step.as_os_str())?;
        here.push(step);
        copy.push(step);
        crate::atomic_file::create_private_dir(&copy)?;
    }
    link_all(&here, &copy, |name| !is_tofus(&name.to_string_lossy()))?;
    for entry in std::fs::read_dir(&here).map_err(io("read", &here))? {
        let file = entry.map_err(io("read", &here))?.path();
        let Some(name) = file.file_name().filter(|name| is_tofu_file(&name.to_string_lossy())) else {
            continue;
        };
        // A pipe would never end.
        if file.is_file() {
            let text = std::fs::read(&file).map_err(io("read", &file))?;
            let copied = copy.join(name);
            std::fs::write(&copied, excerpt(&syntax::decoded(&text), &file, kept)?)
                .map_err(io("write", &copied))?;
        }
    }
    Ok(copy)
}

fn link_all(from: &Path, into: &Path, wanted: impl Fn(&OsStr) -> bool) -> Result<()> {
    for entry in std::fs::read_dir(from).map_err(io("read", from))? {
        let entry = entry.map_err(io("read", from))?;
        if wanted(&entry.file_name()) {
            let link = into.join(entry.file_name());
            std::os::unix::fs::symlink(entry.path(), &link).map_err(io("create", &link))?;
        }
    }
    Ok(())
}

/// Returns whether tofu reads or writes a file of this name by itself, and so must not meet the stack's.
fn is_tofus(name: &str) -> bool {
    let endings = [".tf", ".tofu", ".tf.json", ".tofu.json", ".tftest.hcl", ".tofutest.hcl"];
    name.starts_with(".terraform")
        || name.contains(".tfstate")
        || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_do_in_the_folder_of_the_stack() {
        let (root, into) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let stack = root.path().join("tofu/stacks/x");
        std::fs::create_dir_all(stack.join(".terraform")).expect("a folder");
        let write = |path: &Path, text: &str| std::fs::write(path, text).expect("a file");
        write(&stack.join("main.tf"), "terraform {\n  backend \"s3\" {}\n  encryption {}\n}\n");
        write(&stack.join("terraform.tfstate"), "{}");
        write(&stack.join("x.auto.tfvars"), "a = 1");
        write(&root.path().join("tofu/key"), "k");
        write(&root.path().join("key"), "top");

        let copy = copy_of(&stack, root.path(), into.path(), Kept::Encryption).expect("a copy");

        let read = |path: &str| std::fs::read_to_string(copy.join(path)).ok();
        assert_eq!(read("x.auto.tfvars").as_deref(), Some("a = 1"));
        assert_eq!(read("../../key").as_deref(), Some("k"));
        assert_eq!(read("../../../key").as_deref(), Some("top"));
        assert_eq!(read("main.tf").as_deref(), Some("terraform {\nencryption {}\n}\n"));
        assert!(!copy.join("terraform.tfstate").exists() && !copy.join(".terraform").exists());
    }

    #[test]
    fn a_stack_at_the_root_of_its_project_is_copied_alone() {
        let (root, into) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(root.path().join("main.tofu"), "locals {}\noutput \"a\" {}\n").expect("a file");

        let copy = copy_of(root.path(), root.path(), into.path(), Kept::Encryption).expect("a copy");

        assert_eq!(std::fs::read_to_string(copy.join("main.tofu")).expect("a file"), "locals {}\n");
    }
}
