//! Turns templates and values into the files of a generated tree, in memory.
//!
//! A template is a [`SourceFile`], from a folder or from this program itself; what comes
//! out is a [`GeneratedFile`]. [`settings::resolve`] says how, [`load_inputs`] reads what,
//! [`derive`] adds values, [`Engine`] and [`render_tree`] make the files; nothing of that
//! writes. The command encrypts `*.sops.*`; then [`changes`] compares the tree, and
//! [`write`] makes it so.

pub mod built_in;
pub mod changes;
mod derive;
pub mod diff;
mod engine;
mod fault;
mod filters;
mod functions;
mod inputs;
mod known_names;
mod limits;
mod makejinja_toml;
pub mod manifest;
mod origin;
mod pattern;
pub mod plugin;
mod python;
mod read_keys;
mod recorded;
pub mod removal;
mod rewrite;
pub mod settings;
mod tree;
mod turn;
mod undefined;
mod walk;
pub mod write;

use std::borrow::Cow;
use std::path::PathBuf;

pub use derive::{derive, evaluate_derivations};
pub use engine::{Engine, Surroundings};
pub use inputs::Inputs;
pub use origin::template_of;
pub use read_keys::{ReadKeys, Readers};
pub use recorded::recorded_files;
pub use rewrite::Marks;
pub use settings::{RenderSettings, UndefinedMode, Whitespace};
pub use tree::{Rendered, render_tree};
pub use turn::Turn;
pub use walk::load_inputs;

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
