//! Writing a bundle: whole or not at all, for its recipients alone.

use std::path::PathBuf;

use crate::atomic_file;
use crate::commands::Context;
use crate::engine::Bundle;
use crate::error::{Error, Result, io};
use crate::model::{counted, quoted};
use crate::secrets::identities::{Recipient, encrypt_for, is_message};

/// Where a bundle goes, and for whom it is.
#[derive(Debug)]
pub struct Target {
    /// Where it will lie.
    pub path: PathBuf,
    /// The same as it was typed.
    pub typed: PathBuf,
    /// Who can open it.
    pub recipients: Vec<Recipient>,
    /// The project's name, if it has one.
    pub project: Option<String>,
}

impl Target {
    /// Takes an old bundle away, so that a run that fails leaves none behind; nothing else is overwritten.
    pub fn clear(&self) -> Result<()> {
        let facts = match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            facts => facts.map_err(io("read", &self.path))?,
        };
        let is_bundle = facts.is_file() && {
            let bytes = std::fs::read(&self.path).map_err(io("read", &self.path))?;
            bytes.is_empty() || is_message(&bytes)
        };
        if !is_bundle {
            let name = self.typed.display();
            return Err(Error::failed(format!(
                "`{name}` is there and is no bundle, so it is not overwritten"
            ))
            .hint("name another file: `--bundle plan.bundle`"));
        }
        std::fs::remove_file(&self.path).map_err(io("remove", &self.path))
    }
}

/// Writes a bundle.
pub(super) fn write(target: &Target, mut bundle: Bundle, context: &Context) -> Result<()> {
    bundle.project.clone_from(&target.project);
    let sealed = encrypt_for(&target.recipients, &bundle.to_bytes()?)?;
    atomic_file::write_flushed(&target.path, &sealed)?;
    let plans = counted(bundle.plans.len(), "plan");
    let recipients = counted(target.recipients.len(), "recipient");
    let name = quoted(&target.typed.display().to_string());
    context.terminal.note(&format!("  bundle: `{name}`, {plans} for {recipients}"));
    Ok(())
}
