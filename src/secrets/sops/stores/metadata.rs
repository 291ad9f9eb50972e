//! Takes the metadata of SOPS out of documents and puts it in.
//!
//! YAML, JSON and binary files hold it below the key `sops`, in every document; ini in the
//! section `[sops]` and dotenv behind the prefix `sops_`, both flat.

use std::collections::HashMap;

use zeroize::Zeroizing;

use super::flat;
use crate::error::{Error, Result};
use crate::secrets::sops::format::Format;
use crate::secrets::sops::tree::{Document, Item, Value};

const KEY: &str = "sops";
const PREFIX: &str = "sops_";

/// The metadata of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The nested form, in the order of the file.
    pub tree: Vec<Item>,
    /// The names as they stood in a flat file, which may mix what belongs together; empty
    /// where there is no such order to keep.
    pub order: Vec<String>,
}

impl Metadata {
    /// Makes metadata that no file had yet.
    pub const fn new(tree: Vec<Item>) -> Self {
        Self { tree, order: Vec::new() }
    }
}

/// Takes the metadata out; only that of the first document counts, as in sops.
pub fn split_metadata(
    format: Format,
    mut documents: Vec<Document>,
) -> Result<(Vec<Document>, Option<Metadata>)> {
    let metadata = match format {
        Format::Dotenv => documents.first_mut().map(split_prefixed).transpose()?.flatten(),
        Format::Ini => take_keyed(&mut documents)?.map(from_section).transpose()?,
        Format::Yaml | Format::Json | Format::Binary => take_keyed(&mut documents)?.map(Metadata::new),
    };
    Ok((documents, metadata))
}

/// Puts the metadata in, behind everything else.
pub fn join_metadata(format: Format, mut documents: Vec<Document>, metadata: Metadata) -> Vec<Document> {
    match format {
        Format::Dotenv => {
            if let Some(document) = documents.first_mut() {
                let flat = in_order(metadata).into_iter();
                document.extend(flat.map(|(name, value)| Item::Pair(format!("{PREFIX}{name}"), value)));
            }
        }
        Format::Ini => push_keyed(&mut documents, to_section(metadata)),
        Format::Yaml | Format::Json | Format::Binary => push_keyed(&mut documents, metadata.tree),
    }
    documents
}

fn push_keyed(documents: &mut [Document], items: Vec<Item>) {
    for document in documents {
        document.push(Item::Pair(KEY.into(), Value::Map(items.clone())));
    }
}

/// Removes the key from every document and returns what the first had below it.
fn take_keyed(documents: &mut [Document]) -> Result<Option<Vec<Item>>> {
    let mut first = None;
    for (at, document) in documents.iter_mut().enumerate() {
        let taken = document.extract_if(.., |item| matches!(item, Item::Pair(name, _) if name == KEY));
        for item in taken {
            match item {
                Item::Pair(_, Value::Map(items)) if at == 0 && first.is_none() => first = Some(items),
                Item::Pair(_, Value::Map(_)) if at == 0 => {
                    return Err(Error::invalid("the key `sops` is there twice"));
                }
                Item::Pair(..) if at == 0 => return Err(Error::invalid("the key `sops` is not a map")),
                Item::Pair(..) | Item::Comment(_) => {}
            }
        }
    }
    Ok(first)
}

fn split_prefixed(document: &mut Document) -> Result<Option<Metadata>> {
    let taken: Vec<(String, Value)> = document
        .extract_if(.., |item| matches!(item, Item::Pair(name, _) if name.starts_with(PREFIX)))
        .filter_map(|item| match item {
            Item::Pair(name, value) => Some((name[PREFIX.len()..].to_owned(), value)),
            Item::Comment(_) => None,
        })
        .collect();
    if taken.is_empty() { Ok(None) } else { nest(taken).map(Some) }
}

fn from_section(items: Vec<Item>) -> Result<Metadata> {
    let pairs = items.into_iter().filter_map(|item| match item {
        Item::Pair(name, Value::Text(bytes)) => {
            Some((name, Value::Text(Zeroizing::new(flat::replace(&bytes, b"\\n", b"\n")))))
        }
        Item::Pair(name, value) => Some((name, value)),
        Item::Comment(_) => None,
    });
    nest(pairs.collect())
}

fn to_section(metadata: Metadata) -> Vec<Item> {
    let flat = in_order(metadata).into_iter();
    flat.map(|(name, value)| match value {
        Value::Text(bytes) => {
            Item::Pair(name, Value::Text(Zeroizing::new(flat::replace(&bytes, b"\n", b"\\n"))))
        }
        value => Item::Pair(name, value),
    })
    .collect()
}

fn nest(flat: Vec<(String, Value)>) -> Result<Metadata> {
    let order = flat.iter().map(|(name, _)| name.clone()).collect();
    Ok(Metadata { tree: flat::unflatten(flat)?, order })
}

/// Makes metadata flat in the order its file had; a new name follows the one before it.
fn in_order(metadata: Metadata) -> Vec<(String, Value)> {
    let mut flat = flat::flatten(&metadata.tree);
    if metadata.order.is_empty() {
        return flat;
    }
    let known: HashMap<&str, usize> =
        metadata.order.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut last = 0;
    let places: Vec<usize> = flat
        .iter()
        .map(|(name, _)| {
            last = known.get(name.as_str()).copied().unwrap_or(last);
            last
        })
        .collect();
    let mut placed: Vec<_> = places.into_iter().zip(flat.drain(..)).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, pair)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> Item {
        Item::Pair(name.into(), Value::text(value))
    }

    #[test]
    fn yaml_metadata_is_taken_from_every_document_and_put_back_into_each() {
        let sops = Item::Pair("sops".into(), Value::Map(vec![pair("mac", "m")]));
        let documents = vec![vec![pair("a", "1"), sops.clone()], vec![pair("b", "2"), sops]];

        let (plain, metadata) = split_metadata(Format::Yaml, documents.clone()).unwrap();

        assert_eq!(plain, [vec![pair("a", "1")], vec![pair("b", "2")]]);
        assert_eq!(join_metadata(Format::Yaml, plain, metadata.unwrap()), documents);
    }

    #[test]
    fn flat_metadata_keeps_an_order_that_mixes_entries() {
        let names = ["sops_age__list_0__map_enc", "sops_mac", "sops_age__list_0__map_recipient"];
        let mut document = vec![pair("A", "1")];
        document.extend(names.iter().map(|name| pair(name, "x")));

        let (plain, metadata) = split_metadata(Format::Dotenv, vec![document.clone()]).unwrap();

        assert_eq!(plain, [vec![pair("A", "1")]]);
        assert_eq!(join_metadata(Format::Dotenv, plain, metadata.unwrap()), [document]);
    }

    #[test]
    fn ini_metadata_holds_line_breaks_as_two_signs() {
        let section = Item::Pair("sops".into(), Value::Map(vec![pair("age__list_0__map_enc", "a\\nb")]));

        let (plain, metadata) = split_metadata(Format::Ini, vec![vec![section.clone()]]).unwrap();

        let metadata = metadata.unwrap();
        assert_eq!(flat::flatten(&metadata.tree)[0].1, Value::text("a\nb"));
        assert_eq!(join_metadata(Format::Ini, plain, metadata), [vec![section]]);
    }

    #[test]
    fn a_file_without_metadata_has_none() {
        for format in Format::ALL {
            let (_, metadata) = split_metadata(format, vec![vec![pair("a", "1")]]).unwrap();

            assert_eq!(metadata, None);
        }
    }
}
