//! A state on its way from one backend to another: copied, compared, then switched to.
//!
//! The copy is written and read back by the real tofu in a folder of its own that holds
//! nothing but the new backend block, so the stack's files change last and only when the
//! copy is right. The old state stays where it is. Begin at [`migrate_state`].

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::inspect::{bare_run, check};
use super::session::Session;
use super::state_edit::{StateFacts, pull_state, same_lineage};
use crate::error::{Error, Result, io};
use crate::model::{Backend, Stack, StackId};
use crate::process;
use crate::tofu::call::{self, InitBackend, PushMode};

/// Where a state goes, and how.
#[derive(Debug)]
pub struct Migration {
    /// The new backend block as it is written; nothing for no block at all.
    pub block: Option<String>,
    /// The backend that the block describes.
    pub backend: Backend,
    /// Whether a state that is already there may be overwritten.
    pub mode: PushMode,
}

/// What became of a migration.
#[derive(Debug)]
pub struct Migrated {
    /// What was copied; nothing if the stack has no state yet.
    pub facts: Option<StateFacts>,
    /// The file whose backend block is new.
    pub file: PathBuf,
}

/// Copies the state, compares, and switches the stack's files.
pub async fn migrate_state(session: &Session, id: &StackId, migration: &Migration) -> Result<Migrated> {
    let stack = session.stack(id)?;
    let before = pull_state(session, id).await?;
    let facts = StateFacts::of(&before);
    if facts.is_some() {
        let trial = Trial::new(session, stack, migration)?;
        trial.copy(&before, migration.mode).await?;
        if !same(&before, &pull_state(session, id).await?) {
            return Err(Error::failed(format!("the state of `{id}` changed while it was copied"))
                .hint("nothing was switched; try again when no run is at work"));
        }
    }
    let file = switch(session, stack, migration.block.as_deref())?;
    forget_backend(session, stack)?;
    set_old_file_aside(session, stack)?;
    Ok(Migrated { facts, file })
}

/// A folder with nothing but the new backend.
struct Trial<'a> {
    session: &'a Session,
    stack: Stack,
    dir: tempfile::TempDir,
    /// A file that the local backend is to write in the stack's own folder.
    local: Option<PathBuf>,
}

impl<'a> Trial<'a> {
    fn new(session: &'a Session, stack: &Stack, migration: &Migration) -> Result<Self> {
        let dir =
            tempfile::tempdir().map_err(|error| Error::unavailable("no temporary folder").because(error))?;
        let local = matches!(migration.backend.kind(), "local").then(|| {
            let path = migration.backend.attribute("path").unwrap_or("terraform.tfstate");
            session.dir_of(stack).join(path)
        });
        let block = match &local {
            // Relative paths would lead into the temporary folder.
            Some(path) => {
                format!("backend \"local\" {{\n    path = {}\n  }}", Value::from(path.display().to_string()))
            }
            None => migration.block.clone().unwrap_or_default(),
        };
        let file = dir.path().join("backend.tf");
        std::fs::write(&file, format!("terraform {{\n  {block}\n}}\n")).map_err(io("write", &file))?;
        let stack = Stack { backend: migration.backend.clone(), ..stack.clone() };
        Ok(Self { session, stack, dir, local })
    }

    async fn copy(&self, state: &[u8], mode: PushMode) -> Result<()> {
        if let Some(parent) = self.local.as_deref().and_then(Path::parent) {
            std::fs::create_dir_all(parent).map_err(io("create", parent))?;
        }
        let narration = call::Narration::MessagesOnly;
        self.tofu(|base| call::init(base, InitBackend::Yes, &[], narration)).await?;
        let there = self.tofu(call::state_pull).await?;
        if StateFacts::of(&there).is_some() && !same(&there, state) && mode == PushMode::Careful {
            return Err(Error::failed(format!(
                "there is a state already where `{}` is to go",
                self.stack.id
            ))
            .hint("look at it first; `--force` overwrites it"));
        }
        self.tofu(|base| call::state_push_with(base, state.to_vec(), mode)).await?;
        let mut copied = self.tofu(call::state_pull).await?;
        if !same_lineage(state, &copied) {
            self.tofu(|base| call::state_push_with(base, state.to_vec(), PushMode::Forced)).await?;
            copied = self.tofu(call::state_pull).await?;
        }
        if !same(state, &copied) || !as_new(state, &copied) {
            return Err(Error::failed(format!(
                "the copy of the state of `{}` is not the same",
                self.stack.id
            ))
            .fact("original", described(state))
            .fact("copy", described(&copied))
            .hint("nothing was switched: the stack still uses its old state"));
        }
        Ok(())
    }

    async fn tofu(&self, call: impl FnOnce(process::Invocation) -> process::Invocation) -> Result<Vec<u8>> {
        let run = bare_run(self.session, &self.stack);
        let base = self.session.call_in(&self.stack, &run.env, self.dir.path())?;
        let captured = process::capture(call(base), &self.session.interrupts).await?;
        check(self.session, &self.stack.id, &captured)?;
        Ok(captured.stdout)
    }
}

/// Returns whether two states are the same: lineage and all content.
///
/// Not the serial, which tofu may raise when it writes; nor its own version.
fn same(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let mut state: Value = serde_json::from_slice(bytes).ok()?;
        let map = state.as_object_mut()?;
        map.remove("serial");
        map.remove("terraform_version");
        Some(state)
    };
    matches!((read(one), read(other)), (Some(one), Some(other)) if one == other)
}

/// Returns whether a copy is at least as new as the original.
fn as_new(original: &[u8], copy: &[u8]) -> bool {
    let serial = |bytes: &[u8]| StateFacts::of(bytes).map(|facts| facts.serial);
    serial(copy) >= serial(original)
}

fn described(state: &[u8]) -> String {
    match StateFacts::of(state) {
        Some(facts) => {
            format!("serial {}, lineage {}, {} resources", facts.serial, facts.lineage, facts.resources)
        }
        None => "none".to_owned(),
    }
}

/// Replaces the backend block in the stack's files, or adds one.
fn switch(session: &Session, stack: &Stack, block: Option<&str>) -> Result<PathBuf> {
    let dir = session.dir_of(stack);
    for file in configuration_files(&dir)? {
        let text = std::fs::read_to_string(&file).map_err(io("read", &file))?;
        if let Some(changed) = with_backend(&text, block, &file)? {
            crate::atomic_file::replace(&file, changed.as_bytes())?;
            return Ok(file);
        }
    }
    let file = dir.join("backend.tf");
    if let Some(block) = block {
        if file.exists() {
            return Err(Error::failed("there is a `backend.tf` without a backend block")
                .at(file.display())
                .hint("the state is copied; add the block by hand")
                .fact("block", block.to_owned()));
        }
        crate::atomic_file::replace(&file, format!("terraform {{\n  {block}\n}}\n").as_bytes())?;
    }
    Ok(file)
}

fn configuration_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir).map_err(io("read", dir))?;
    let is_ours =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tf" || extension == "tofu");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_ours).collect();
    files.sort();
    Ok(files)
}

/// Returns the text with another backend block; nothing if it has none.
fn with_backend(text: &str, block: Option<&str>, file: &Path) -> Result<Option<String>> {
    let body: hcl_edit::structure::Body = text.parse().map_err(|error: hcl_edit::parser::Error| {
        Error::invalid("the file does not parse").at(file.display()).because(error)
    })?;
    let terraform =
        body.iter().filter_map(|part| part.as_block()).filter(|block| block.ident.as_str() == "terraform");
    let backends = terraform.flat_map(|block| block.body.iter()).filter_map(|part| part.as_block());
    let spans = backends.filter(|block| block.ident.as_str() == "backend").filter_map(hcl_edit::Span::span);
    let Some(span) = spans.into_iter().next() else { return Ok(None) };
    let (Some(head), Some(tail)) = (text.get(..span.start), text.get(span.end..)) else { return Ok(None) };
    Ok(Some(match block {
        Some(block) => format!("{head}{block}{tail}"),
        None => format!("{}{}", head.trim_end_matches([' ', '\t']), tail.strip_prefix('\n').unwrap_or(tail)),
    }))
}

/// Renames the local state that the stack had: `init` would ask whether to copy it once more.
fn set_old_file_aside(session: &Session, stack: &Stack) -> Result<()> {
    let is_default = matches!(stack.backend.attribute("path"), None | Some("terraform.tfstate"));
    if stack.backend.kind() != "local" || !is_default {
        return Ok(());
    }
    let file = session.dir_of(stack).join("terraform.tfstate");
    match std::fs::rename(&file, file.with_extension("tfstate.moved")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("rename", &file)(error)),
        _ => Ok(()),
    }
}

/// Makes tofu forget which backend it was initialised with; the next run does it anew.
fn forget_backend(session: &Session, stack: &Stack) -> Result<()> {
    let record = session.data_dir_of(stack).join("terraform.tfstate");
    match std::fs::remove_file(&record) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", &record)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_backend_block_of_a_file_changes() {
        let text = "# mine\nterraform {\n  required_version = \">= 1\" # keep\n  backend \"local\" {\n    path = \"x\"\n  }\n}\n\nlocals { a = 1 }\n";

        let changed = with_backend(text, Some("backend \"http\" {}"), Path::new("main.tf")).expect("HCL");
        let removed = with_backend(text, None, Path::new("main.tf")).expect("HCL");

        let rest = "# mine\nterraform {\n  required_version = \">= 1\" # keep\n";
        assert_eq!(
            changed.as_deref(),
            Some(format!("{rest}  backend \"http\" {{}}\n}}\n\nlocals {{ a = 1 }}\n").as_str())
        );
        assert_eq!(removed.as_deref(), Some(format!("{rest}}}\n\nlocals {{ a = 1 }}\n").as_str()));
        assert_eq!(with_backend("locals {}\n", None, Path::new("main.tf")).expect("HCL"), None);
    }

    #[test]
    fn states_are_the_same_by_content_and_not_by_spaces_or_serial() {
        assert!(same(b"{\"a\": 1, \"serial\": 3}", b"{\"serial\":4,\"a\":1}\n"));
        assert!(!same(b"{\"a\":1}", b"{\"a\":2}"));
        assert!(!same(b"{\"a\":1}", b""));
    }
}
