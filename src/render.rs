//! Turns templates and values into the files of a generated tree, in memory.
//!
//! A template is a [`SourceFile`], from a folder or from this program itself; what comes
//! out is a [`GeneratedFile`]. [`settings::resolve`] says how, [`load_inputs`] reads what,
//! [`derive`] adds values, [`Engine`] and [`render_tree`] make the files; nothing of that
//! writes. The command encrypts `*.sops.*`; then [`compare_tree`] says what
//! changes, and [`write_tree`] makes it so.

mod derive;
mod jinja;
mod output;
pub mod plugin;
mod regular_file;
pub mod settings;
mod sources;
mod tree;

use std::borrow::Cow;
use std::path::PathBuf;

pub use derive::{derive, evaluate_derivations};
pub use jinja::{Engine, ReadKeys, Readers, TemplateAccess};
pub use output::{
    Conflict, ConflictReason, FileChange, Manifest, Overwrite, Removal, RemovedFile, TreeChanges,
    TreeComparison, TreeLock, TreePlace, compare_tree, is_secret_file, recorded_files, unified_diff,
    write_tree,
};
pub use settings::{Marks, RenderSettings, UndefinedMode, Whitespace};
pub(crate) use sources::embedded_files;
pub use sources::{EmbeddedFile, Inputs, built_in, load_inputs, template_of};
pub use tree::{Rendered, render_tree};

/// A file of an input: a template, or a file that is copied as it is.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it stands below its input, with `/`.
    pub path: String,
    /// What it holds.
    pub bytes: Cow<'static, [u8]>,
    /// The permission bits that its output gets.
    pub mode: u32,
    /// What to call it in an error: its path below the root, or `built-in …`.
    pub origin: String,
}

/// A file of the generated tree.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GeneratedFile {
    /// Where it is written, relative to the project's root; it never leaves it.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Its permission bits.
    pub mode: u32,
    /// What it was made from, as an error would name it.
    pub origin: String,
}
