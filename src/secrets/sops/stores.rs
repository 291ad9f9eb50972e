//! The stores of SOPS: bytes ↔ documents for every format, and the metadata in or out of them.
//!
//! What is written is what the real sops writes, byte for byte: plaintext as `sops -d`,
//! encrypted files as `sops -e` of 3.13.3. Nothing here encrypts, and no error holds a value.
//! Begin at [`load`] and [`write`].

mod binary;
mod dotenv;
mod flat;
mod ini;
mod json;
mod metadata;
mod number;
mod yaml;

use super::format::Format;
use super::tree::Document;
use crate::error::{Error, Result};

pub use flat::{flatten, unflatten};
pub use json::to_json;
pub use metadata::{Metadata, join_metadata, split_metadata};

/// How deep maps and lists may be nested; deeper ones could exhaust the stack.
const MAX_DEPTH: usize = 128;

fn too_deep() -> Error {
    Error::invalid(format!("maps and lists are nested deeper than {MAX_DEPTH} levels"))
}

/// The indents that `.sops.yaml` can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Columns by which YAML nests maps.
    pub yaml_indent: usize,
    /// Spaces by which JSON nests; none is a tab.
    pub json_indent: Option<usize>,
}

impl Default for Layout {
    fn default() -> Self {
        Self { yaml_indent: 4, json_indent: None }
    }
}

/// Reads plaintext.
pub fn load(format: Format, bytes: &[u8]) -> Result<Vec<Document>> {
    match format {
        Format::Yaml => yaml::load(bytes, yaml::Purpose::Plain),
        Format::Json => json::load(bytes),
        Format::Dotenv => dotenv::load(bytes),
        Format::Ini => ini::load(bytes),
        Format::Binary => Ok(binary::load(bytes)),
    }
}

/// Reads an encrypted file, its metadata still in it.
pub fn load_encrypted(format: Format, bytes: &[u8]) -> Result<Vec<Document>> {
    match format {
        Format::Binary => json::load(bytes),
        Format::Yaml => yaml::load(bytes, yaml::Purpose::Encrypted),
        Format::Json | Format::Dotenv | Format::Ini => load(format, bytes),
    }
}

/// Writes plaintext; fails if the format cannot hold a value.
pub fn write(format: Format, documents: &[Document], layout: Layout) -> Result<Vec<u8>> {
    match format {
        Format::Yaml => Ok(yaml::write(documents, layout.yaml_indent, yaml::Purpose::Plain)),
        Format::Json => Ok(json::write(documents, layout.json_indent)),
        Format::Dotenv => dotenv::write(documents),
        Format::Ini => ini::write(documents),
        Format::Binary => binary::write(documents),
    }
}

/// Writes an encrypted file from documents that hold their metadata.
pub fn write_encrypted(format: Format, documents: &[Document], layout: Layout) -> Result<Vec<u8>> {
    match format {
        Format::Binary => Ok(json::write(documents, layout.json_indent)),
        Format::Yaml => Ok(yaml::write(documents, layout.yaml_indent, yaml::Purpose::Encrypted)),
        Format::Json | Format::Dotenv | Format::Ini => write(format, documents, layout),
    }
}
