//! What a plan was made from: a fingerprint over every file that can change it.
//!
//! All files of the stack's folder and of its local modules count, because `file()` and
//! `templatefile()` may read any of them; hidden files, state and tofu's own folders do
//! not, except the provider lock file.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::shared::Session;
use crate::error::{Result, io};
use crate::model::{Fingerprint, StackRun};
use crate::stacks;

const LOCK_FILE: &str = ".terraform.lock.hcl";

/// Returns the fingerprint of a stack's configuration.
pub fn source_fingerprint(session: &Session, run: &StackRun) -> Result<Fingerprint> {
    digest(&session.project.root, &source_files(session, run)?)
}

/// Returns the files that can change a plan, whether they are there or not.
pub fn source_files(session: &Session, run: &StackRun) -> Result<Vec<PathBuf>> {
    let root = &session.project.root;
    let stack = session.dir_of(&run.stack);
    let mut files = vec![stack.join(LOCK_FILE)];
    let others: Vec<PathBuf> = session.stacks.iter().map(|stack| root.join(&stack.path)).collect();
    collect(&stack, &others, &mut files)?;
    for module in &run.stack.modules {
        collect(&root.join(module), &others, &mut files)?;
    }
    files.extend(run.var_files.iter().map(|file| stack.join(file)));
    files.extend(stacks::backend_files(&session.project, &run.stack));
    // As they lie on the disk: a digest of decrypted values could be guessed at.
    files.extend(
        session.secrets_of(&run.stack.id).into_iter().flat_map(|secrets| secrets.files.iter().cloned()),
    );
    files.sort();
    files.dedup();
    Ok(files)
}

fn digest(root: &Path, files: &[PathBuf]) -> Result<Fingerprint> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for file in files {
        let Some(content) = file_fingerprint(file).map_err(io("read", file))? else { continue };
        let name = file.strip_prefix(root).unwrap_or(file);
        parts.push(name.as_os_str().as_encoded_bytes().to_vec());
        parts.push(content.as_str().as_bytes().to_vec());
    }
    Ok(Fingerprint::of(parts.iter().map(Vec::as_slice)))
}

/// Returns the fingerprint of what a file holds; `None` where there is no file.
///
/// Beside a configuration may lie anything: an image larger than the memory, or a pipe that nobody
/// writes to, which is neither waited for nor read.
pub fn file_fingerprint(path: &Path) -> std::io::Result<Option<Fingerprint>> {
    if !path.is_file() {
        return Ok(None);
    }
    let file = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    if file.metadata()?.is_file() { Fingerprint::of_reader(file).map(Some) } else { Ok(None) }
}

/// Adds the files below a folder; a stack inside another is a matter of its own.
fn collect(dir: &Path, stacks: &[PathBuf], files: &mut Vec<PathBuf>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    for entry in entries {
        let entry = entry.map_err(io("read", dir))?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || is_tofus_own(&name.to_string_lossy()) {
            continue;
        }
        // A linked folder is not followed; a linked file is read as tofu reads it.
        let kind = entry.file_type().map_err(io("read", &entry.path()))?;
        if kind.is_dir() {
            if !stacks.contains(&entry.path()) {
                collect(&entry.path(), stacks, files)?;
            }
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_tofus_own(name: &str) -> bool {
    let state = name.contains(".tfstate");
    state || name.ends_with(".tfplan") || name == "crash.log"
}
