//! What is read from a file, whichever form it has.

use std::path::Path;

use super::declaration::Declaration;
use super::ignore_comment::IgnoreComment;
use crate::lint::plaintext::Suspicion;
use crate::syntax;

/// A secret in the clear.
#[derive(Debug)]
pub struct FoundSecret {
    /// Where it is told: its argument, or the variable whose default it is.
    pub at: usize,
    /// Where the block around it begins.
    pub block: usize,
    /// What it stands under: `resource.x.y.password`.
    pub subject: String,
    /// The last part of that.
    pub name: String,
    /// Why it is one.
    pub why: Suspicion,
}

/// What of a file is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// What it declares.
    pub declarations: bool,
    /// Whether secrets stand in it.
    pub secrets: bool,
    /// Whether bytes are an encrypted file, which is never judged.
    pub is_sealed: fn(&Path, &[u8]) -> bool,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Parts {
    pub declarations: Vec<Declaration>,
    pub ignores: Vec<IgnoreComment>,
    pub secrets: Vec<FoundSecret>,
    pub fault: Option<syntax::Fault>,
}
