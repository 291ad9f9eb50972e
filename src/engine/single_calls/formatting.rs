//! `tofu fmt` over the folders of stacks and of their modules.

use std::path::PathBuf;

use crate::engine::session::Session;
use crate::error::{Error, Result};
use crate::model::{Safe, StackId};
use crate::process;
use crate::tofu::call;
use crate::tofu::call::FmtMode;

/// What formatting brought.
#[derive(Debug)]
pub struct Formatted {
    /// The files that changed, or the diff of those that should.
    pub text: Safe,
    /// Whether everything was formatted already.
    pub clean: bool,
}

/// Formats the files of stacks and of their local modules, each folder once.
pub async fn format_files(session: &Session, chosen: &[StackId], mode: FmtMode) -> Result<Formatted> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for id in chosen {
        let stack = session.stack(id)?;
        folders.push(stack.path.clone());
        folders.extend(stack.modules.iter().cloned());
    }
    folders.sort();
    folders.dedup();
    let folders: Vec<PathBuf> =
        folders.into_iter().map(|path| if path.as_os_str().is_empty() { ".".into() } else { path }).collect();
    let call = call::fmt(session.plain_call(), mode, &folders);
    let captured = process::capture(call, &session.interrupts).await?;
    // 3 is tofu's way to say that something is not formatted.
    if !captured.status.success() && captured.status.code() != Some(3) {
        return Err(Error::failed("tofu cannot format the files")
            .detail(captured.stderr.safe(&session.mask()).trim()));
    }
    let text = captured.stdout.safe(&session.mask());
    Ok(Formatted { text, clean: captured.status.success() })
}
