//! One file, read once.

use std::fs;
use std::path::Path;

use super::declaration::Declaration;
use super::ignore_comment::IgnoreComment;
use super::lines::Lines;
use super::parts::{FoundSecret, Reading};
use super::{json_form, native_form};
use crate::lint::finding::FindingPlace;
use crate::stacks::is_override;
use crate::syntax;

/// The largest file that is looked into.
const LARGEST: u64 = 32 << 20;

/// A file and what rules ask about it.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path as seen from the project's root.
    pub shown: String,
    /// Whether it is merged over the others of its folder.
    pub is_override: bool,
    /// What it declares.
    pub declarations: Vec<Declaration>,
    /// The comments that ignore rules.
    pub ignores: Vec<IgnoreComment>,
    /// The secrets that stand in it.
    pub secrets: Vec<FoundSecret>,
    /// Where it makes no sense, and why.
    pub fault: Option<(usize, String)>,
    lines: Lines,
    text: String,
}

impl SourceFile {
    /// Reads a file.
    pub fn read(path: &Path, shown: String, reading: Reading) -> Self {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut file = Self {
            is_override: is_override(name),
            shown,
            declarations: Vec::new(),
            ignores: Vec::new(),
            secrets: Vec::new(),
            fault: None,
            lines: Lines::of(""),
            text: String::new(),
        };
        match bytes_of(path) {
            Ok(bytes) => file.look(path, &bytes, reading),
            Err(why) => file.fault = Some((0, why)),
        }
        file
    }

    fn look(&mut self, path: &Path, bytes: &[u8], reading: Reading) {
        if is_sealed(path, bytes, reading) {
            // What OpenTofu reads must be readable; values come through infra, which opens them.
            let is_read_by_tofu = crate::model::is_tofu_file(&self.shown);
            let what = "is encrypted, which OpenTofu cannot read";
            self.fault = is_read_by_tofu.then(|| (0, what.to_owned()));
            return;
        }
        let decoded = syntax::decoded(bytes);
        let is_foreign = str::from_utf8(bytes).is_err();
        self.text = decoded.into_owned();
        self.lines = Lines::of(&self.text);
        let parts = match self.shown.ends_with(".json") {
            true => json_form::read(&self.text, &self.lines, reading),
            false => native_form::read(&self.text, &self.lines, reading),
        };
        let foreign = || {
            let at = is_foreign.then(|| syntax::outside_comments(&self.text, '\u{fffd}')).flatten()?;
            Some((at, "not UTF-8 text".to_owned()))
        };
        self.fault = parts.fault.map(|fault| (fault.at, fault.what.to_owned())).or_else(foreign);
        self.declarations = parts.declarations;
        self.secrets = parts.secrets;
        self.ignores = parts.ignores;
    }

    /// Returns a place of the file.
    pub fn place(&self, at: usize) -> FindingPlace {
        self.line_place(self.lines.line(at))
    }

    /// Returns a line of the file.
    pub fn line_place(&self, line: usize) -> FindingPlace {
        FindingPlace {
            file: self.shown.clone(),
            line,
            width: self.lines.width(&self.text, line),
            around: None,
        }
    }

    /// Returns a place with that of the block around it.
    pub fn place_in_block(&self, at: usize, block: usize) -> FindingPlace {
        FindingPlace { around: Some(self.lines.line(block)), ..self.place(at) }
    }
}

/// Returns whether nobody can look into a file without a key.
fn is_sealed(path: &Path, bytes: &[u8], reading: Reading) -> bool {
    let starts = ["$ANSIBLE_VAULT;", "age-encryption.org/", "-----BEGIN AGE ENCRYPTED FILE", "\0GITCRYPT\0"];
    let has_sops = || {
        let text = String::from_utf8_lossy(bytes);
        text.contains("ENC[AES256_GCM,")
            && (text.lines().any(|line| line.trim_start().starts_with("sops_mac"))
                || (reading.is_sealed)(path, bytes)
                || (reading.is_sealed)(Path::new("x.json"), bytes))
    };
    starts.iter().any(|start| bytes.starts_with(start.as_bytes())) || has_sops()
}

/// Returns what is in a file, or why that is nothing.
fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| match fs::read_link(path) {
        Ok(_) => format!("is a link that leads nowhere: {error}"),
        Err(_) => format!("cannot be read: {error}"),
    };
    let found = fs::metadata(path).map_err(unreadable)?;
    // A pipe or a device would block or never end.
    if !found.is_file() {
        return Err("is no regular file".to_owned());
    }
    if found.len() > LARGEST {
        return Err("is too large to be judged".to_owned());
    }
    fs::read(path).map_err(unreadable)
}
