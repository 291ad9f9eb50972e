//! Reads `derive.yaml`: names and the expressions that give their values, in order.
//!
//! Nothing is evaluated here; `render::derive` does that. Begin at [`load_derivations`].

use std::path::Path;

use super::node::{Content, MapEntry, Node};
use super::read;
use super::read::DataFile;
use super::{documents, documents_in, no_map};
use crate::error::{Error, Result};
use crate::model::{Derivation, Formula};

/// Loads the derived values of a project; none if an optional file does not exist.
pub fn load_derivations(root: &Path, file: &DataFile) -> Result<Vec<Derivation>> {
    let mut warnings = Vec::new();
    let mut derivations = Vec::new();
    for found in read::find(root, std::slice::from_ref(file), &mut warnings)? {
        for document in documents(&found, &mut warnings)? {
            let Content::Map(entries) = &document.content else { return Err(no_map(&document)) };
            for entry in entries {
                derivations.push(derivation(entry)?);
            }
        }
    }
    Ok(derivations)
}

/// Reads derived values from the text of a file.
pub fn load_derivation_text(name: &str, text: &str) -> Result<Vec<Derivation>> {
    let mut derivations = Vec::new();
    for document in documents_in(name, text)? {
        let Content::Map(entries) = &document.content else { return Err(no_map(&document)) };
        for entry in entries {
            derivations.push(derivation(entry)?);
        }
    }
    Ok(derivations)
}

fn derivation(entry: &MapEntry) -> Result<Derivation> {
    if !is_name(&entry.key) {
        let message = format!("`{}` is no name that a template could use", entry.key);
        return Err(Error::invalid(message).at(&entry.place).hint("names are letters, digits and `_`"));
    }
    Ok(Derivation { name: entry.key.clone(), formula: formula(&entry.value) })
}

fn is_name(text: &str) -> bool {
    let word = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.chars().all(word) && text.starts_with(|first: char| word(first) && !first.is_numeric())
}

fn formula(node: &Node) -> Formula {
    match &node.content {
        Content::Scalar(serde_json::Value::String(text)) => {
            Formula::Expression { text: text.clone(), place: node.place.to_string() }
        }
        Content::Scalar(value) => Formula::Literal(value.clone()),
        Content::List(items) => Formula::List(items.iter().map(|item| formula(item)).collect()),
        Content::Map(entries) => {
            Formula::Map(entries.iter().map(|entry| (entry.key.clone(), formula(&entry.value))).collect())
        }
    }
}
