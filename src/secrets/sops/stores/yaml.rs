//! The YAML store: text ↔ documents, as sops does it with Go's yaml.v3.
//!
//! Reading goes text → [`token`] → [`placing`] of comments → [`node`] → [`to_tree`]; writing
//! goes tree → [`emit`] onto a [`page`]. yaml.v3's odd decisions are kept where they show.

mod emit;
mod node;
mod page;
mod placing;
mod resolve;
mod style;
mod timestamp;
mod to_tree;
mod token;

use super::super::tree::Document;
use crate::error::{Error, Result};

/// Reads the documents of a text.
pub(super) fn load(bytes: &[u8]) -> Result<Vec<Document>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::invalid("the text is not UTF-8").at(format!("byte {}", error.valid_up_to()))
    })?;
    node::parse(text)?.into_iter().map(to_tree::document).collect()
}

/// Writes documents, nested maps by `indent` columns.
pub(super) fn write(documents: &[Document], indent: usize) -> Vec<u8> {
    emit::emit(documents, indent).into_bytes()
}
