//! The binary store: a file of any kind is one value below the key `data`.

use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Document, Item, Value, find};

const DATA: &str = "data";

pub(super) fn load(bytes: &[u8]) -> Vec<Document> {
    let value = Value::Text(Zeroizing::new(bytes.to_vec()));
    vec![vec![Item::Pair(DATA.into(), value)]]
}

pub(super) fn write(documents: &[Document]) -> Result<Vec<u8>> {
    match documents.first().and_then(|document| find(document, DATA)) {
        Some(Value::Text(bytes)) => Ok(bytes.to_vec()),
        Some(_) => Err(Error::invalid("the key `data` of a binary file is not a text")),
        None => Err(Error::invalid("a binary file has no key `data`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_kind_come_back() {
        let bytes = [0, 255, 10, 13, 128];

        assert_eq!(write(&load(&bytes)).unwrap(), bytes);
    }

    #[test]
    fn a_tree_without_data_is_refused() {
        assert!(write(&[vec![]]).is_err());
        assert!(write(&[vec![Item::Pair("data".into(), Value::Int(1))]]).is_err());
    }
}
