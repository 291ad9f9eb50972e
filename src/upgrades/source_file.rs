//! A file as it was read for an edit: its text, and why it may not be edited.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of OpenTofu.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// Its path without links.
    pub path: PathBuf,
    /// Its path as it is shown.
    pub shown: String,
    /// What is in it, without the mark that some editors put first.
    pub text: String,
    /// How many bytes stand before the text.
    pub lead: usize,
    /// Why it may not be edited.
    pub obstacle: Option<String>,
}

/// What some editors put first.
const MARK: &[u8] = b"\xef\xbb\xbf";

impl SourceFile {
    /// Reads a file; nothing if that is none that anybody could edit, or OpenTofu read.
    pub fn read(path: &Path, root: &Path) -> Option<Self> {
        let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let real = fs::canonicalize(path).ok()?;
        if !fs::metadata(&real).ok()?.is_file() {
            return None;
        }
        let bytes = fs::read(&real).ok()?;
        let lead = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        let rest = bytes.get(lead..).unwrap_or_default();
        let text = String::from_utf8_lossy(rest).into_owned();
        let is_text = text.as_bytes() == rest;
        let obstacle = match () {
            () if !real.starts_with(root) => Some("it lies outside of the project".to_owned()),
            () if !is_text => Some("it has letters that are no UTF-8".to_owned()),
            () => None,
        };
        Some(Self { path: real, shown, text, lead, obstacle })
    }
}
