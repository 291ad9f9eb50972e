//! Documents between their encrypted and their plain form, with the MAC as a by-product.
//!
//! What was learned on decrypting is kept in a [`Memory`], so that a document can be
//! encrypted again with the smallest difference. Begin at [`open`] and [`seal`].

use std::collections::{HashMap, HashSet};

use zeroize::Zeroizing;

use super::cipher::{Cipher, Ivs, digest, looks_sealed};
use super::mac::{Mac, MacScope};
use super::plaintext::{Label, Plaintext};
use super::refusal::refused;
use super::selection::{Leaf, LeafPlace, Selection};
use super::tree::{Comment, Document, ListEntry, Value, Visitor, walk};
use crate::error::Result;

/// How the leaves of a file are encrypted.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// Which leaves.
    pub selection: Selection,
    /// What the MAC covers.
    pub scope: MacScope,
}

/// What a decrypted file looked like.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    ivs: Ivs,
    /// Comments of lists that sops wrote as items.
    items: HashSet<[u8; 32]>,
    /// Comments that stood beside their value; sops shows them above it.
    beside: HashSet<[u8; 32]>,
    /// Comments that belong to a place further in, as they are in the file.
    moved: HashMap<[u8; 32], String>,
}

/// Decrypts documents in place and returns their MAC.
pub(super) fn open(
    documents: &mut [Document],
    cipher: &Cipher,
    scheme: &Scheme,
    memory: &mut Memory,
) -> Result<Plaintext> {
    let mut opener = Opener { cipher, scheme, memory, mac: Mac::new(scheme.scope) };
    walk(documents, &mut opener)?;
    Ok(opener.mac.finish())
}

/// Encrypts documents in place and returns their MAC.
pub(super) fn seal(
    documents: &mut [Document],
    cipher: &Cipher,
    scheme: &Scheme,
    memory: &Memory,
) -> Result<Plaintext> {
    let memory = memory.clone();
    let mut sealer = Sealer { cipher, scheme, memory, mac: Mac::new(scheme.scope) };
    walk(documents, &mut sealer)?;
    Ok(sealer.mac.finish())
}

struct Opener<'a> {
    cipher: &'a Cipher,
    scheme: &'a Scheme,
    memory: &'a mut Memory,
    mac: Mac,
}

impl Opener<'_> {
    /// Decrypts a value that must be encrypted.
    fn open(&mut self, value: &Value, place: &LeafPlace) -> Result<Plaintext> {
        let Value::Text(bytes) = value else {
            return Err(not_encrypted());
        };
        let text = std::str::from_utf8(bytes).map_err(|_| not_encrypted())?;
        if !text.is_empty() && !text.starts_with("ENC[") {
            return Err(not_encrypted());
        }
        self.cipher.open(text, &place.aad(), &mut self.memory.ivs)
    }

    fn set(&mut self, value: &mut Value, plain: Plaintext) -> Result<()> {
        *value = plain.into_value()?;
        Plaintext::of(value).iter().for_each(|plain| self.mac.add(plain, true));
        Ok(())
    }

    /// Decrypts a comment at its place or, where the layout moved it outwards, at one above.
    fn open_comment(&mut self, text: &str, place: &LeafPlace) -> Option<Plaintext> {
        let depths = (0..=place.path.len()).rev();
        let mut aads = depths.map(|depth| place.path[..depth].join(":") + ":");
        aads.find_map(|aad| {
            let plain = self.cipher.open(text, &aad, &mut self.memory.ivs).ok()?;
            if aad != place.aad() {
                self.memory.moved.insert(digest(&place.aad(), &plain), text.to_owned());
            }
            (plain.label == Label::Comment).then_some(plain)
        })
    }
}

impl Visitor for Opener<'_> {
    fn value(&mut self, value: &mut Value, place: &LeafPlace) -> Result<()> {
        if !self.scheme.selection.picks(place, Leaf::Value) {
            Plaintext::of(value).iter().for_each(|plain| self.mac.add(plain, false));
            return Ok(());
        }
        let plain = self.open(value, place)?;
        if plain.label == Label::Comment {
            return Err(refused("the value is labelled as a comment"));
        }
        self.set(value, plain)
    }

    /// What cannot be decrypted is taken for a plain comment, as sops does.
    fn comment(&mut self, comment: &mut Comment, place: &LeafPlace) -> Result<()> {
        if self.scheme.selection.picks(place, Leaf::Comment)
            && looks_sealed(&comment.text)
            && let Some(plain) = self.open_comment(&comment.text, place)
        {
            if std::mem::take(&mut comment.beside) {
                self.memory.beside.insert(digest(&place.aad(), &plain));
            }
            comment.text = text_of(&plain)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut ListEntry, place: &LeafPlace) -> Result<()> {
        let value = match entry {
            ListEntry::Comment(comment) => return self.comment(comment, place),
            ListEntry::Value(value) => value,
        };
        if !self.scheme.selection.picks(place, Leaf::Value) {
            return self.value(value, place);
        }
        let plain = self.open(value, place)?;
        if plain.label != Label::Comment {
            return self.set(value, plain);
        }
        self.memory.items.insert(digest(&place.aad(), &plain));
        *entry = ListEntry::Comment(Comment { text: text_of(&plain)?, beside: false });
        Ok(())
    }
}

struct Sealer<'a> {
    cipher: &'a Cipher,
    scheme: &'a Scheme,
    memory: Memory,
    mac: Mac,
}

impl Visitor for Sealer<'_> {
    fn value(&mut self, value: &mut Value, place: &LeafPlace) -> Result<()> {
        let Some(plain) = Plaintext::of(value) else {
            return Ok(());
        };
        let encrypted = self.scheme.selection.picks(place, Leaf::Value);
        self.mac.add(&plain, encrypted);
        if encrypted {
            *value = Value::text(self.cipher.seal(&plain, &place.aad(), &mut self.memory.ivs)?);
        }
        Ok(())
    }

    /// A comment that could not be decrypted stays as it is.
    fn comment(&mut self, comment: &mut Comment, place: &LeafPlace) -> Result<()> {
        if self.scheme.selection.picks(place, Leaf::Comment) && !looks_sealed(&comment.text) {
            let plain = Plaintext::of_comment(&comment.text);
            let known = digest(&place.aad(), &plain);
            comment.beside |= self.memory.beside.contains(&known);
            let sealed = match self.memory.moved.remove(&known) {
                Some(sealed) => sealed,
                None => self.cipher.seal(&plain, &place.aad(), &mut self.memory.ivs)?,
            };
            comment.text = Zeroizing::new(sealed);
        }
        Ok(())
    }

    fn entry(&mut self, entry: &mut ListEntry, place: &LeafPlace) -> Result<()> {
        let comment = match entry {
            ListEntry::Value(value) => return self.value(value, place),
            ListEntry::Comment(comment) => comment,
        };
        let was_item =
            self.memory.items.contains(&digest(&place.aad(), &Plaintext::of_comment(&comment.text)));
        self.comment(comment, place)?;
        if was_item {
            *entry = ListEntry::Value(Value::text(comment.text.as_str()));
        }
        Ok(())
    }
}

fn text_of(plain: &Plaintext) -> Result<Zeroizing<String>> {
    let text = std::str::from_utf8(&plain.bytes).map_err(|_| refused("a comment is no text"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

fn not_encrypted() -> crate::error::Error {
    refused("the value is not encrypted, though the file says it should be")
        .hint("remove it and set it again with `infra secrets set`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::sops::keys::DataKey;
    use crate::secrets::sops::tree::Item;

    fn scheme() -> Scheme {
        Scheme { selection: Selection::from_settings(|_| None).unwrap(), scope: MacScope::All }
    }

    fn cipher() -> Cipher {
        Cipher::new(&DataKey::from_bytes(&[3; 32]).unwrap())
    }

    fn comment(text: &str) -> Comment {
        Comment { text: Zeroizing::new(text.to_owned()), beside: false }
    }

    fn sample() -> Vec<Document> {
        let list = vec![
            ListEntry::Comment(comment(" of the list")),
            ListEntry::Value(Value::text("same")),
            ListEntry::Value(Value::text("same")),
            ListEntry::Value(Value::Null),
        ];
        vec![vec![
            Item::Comment(comment(" top")),
            Item::Pair("list".to_owned(), Value::List(list)),
            Item::Pair("empty".to_owned(), Value::text("")),
            Item::Pair("open_unencrypted".to_owned(), Value::Int(5)),
            Item::Pair("map".to_owned(), Value::Map(vec![Item::Pair("deep".to_owned(), Value::Bool(true))])),
        ]]
    }

    #[test]
    fn documents_come_back_as_they_were_with_the_same_mac() {
        let mut documents = sample();

        let sealed = seal(&mut documents, &cipher(), &scheme(), &Memory::default()).unwrap();
        let hidden = documents.clone();
        let opened = open(&mut documents, &cipher(), &scheme(), &mut Memory::default()).unwrap();

        assert!(documents == sample() && hidden != sample());
        assert_eq!(sealed.bytes, opened.bytes);
    }

    #[test]
    fn what_nobody_changed_is_encrypted_to_the_same_bytes() {
        let mut documents = sample();
        seal(&mut documents, &cipher(), &scheme(), &Memory::default()).unwrap();
        let (first, mut memory) = (documents.clone(), Memory::default());
        open(&mut documents, &cipher(), &scheme(), &mut memory).unwrap();

        seal(&mut documents, &cipher(), &scheme(), &memory).unwrap();

        assert!(documents == first);
    }

    #[test]
    fn a_comment_that_sops_wrote_as_an_item_stays_an_item() {
        let sealed = cipher().seal(&Plaintext::of_comment(" c"), "l:", &mut Ivs::default()).unwrap();
        let list = Value::List(vec![ListEntry::Value(Value::text(sealed))]);
        let mut documents = vec![vec![Item::Pair("l".to_owned(), list)]];
        let (before, mut memory) = (documents.clone(), Memory::default());

        open(&mut documents, &cipher(), &scheme(), &mut memory).unwrap();
        let opened = documents.clone();
        seal(&mut documents, &cipher(), &scheme(), &memory).unwrap();

        let comment = Value::List(vec![ListEntry::Comment(comment(" c"))]);
        assert!(opened == vec![vec![Item::Pair("l".to_owned(), comment)]]);
        assert!(documents == before);
    }

    #[test]
    fn a_comment_beside_a_value_is_shown_above_it_and_written_beside_it() {
        let beside = Comment { beside: true, ..comment(" c") };
        let mut documents = vec![vec![Item::Comment(beside), Item::Pair("a".to_owned(), Value::Int(1))]];
        seal(&mut documents, &cipher(), &scheme(), &Memory::default()).unwrap();
        let (first, mut memory) = (documents.clone(), Memory::default());

        open(&mut documents, &cipher(), &scheme(), &mut memory).unwrap();
        let shown = documents.clone();
        seal(&mut documents, &cipher(), &scheme(), &memory).unwrap();

        assert!(shown[0][0] == Item::Comment(comment(" c")));
        assert!(documents == first);
    }

    #[test]
    fn a_plain_value_among_encrypted_ones_is_refused_by_its_key() {
        let mut documents = vec![vec![Item::Pair("password".to_owned(), Value::text("hunter2"))]];

        let error = open(&mut documents, &cipher(), &scheme(), &mut Memory::default()).unwrap_err();

        assert!(error.to_string().contains(r#"key  ["password"]"#), "{error}");
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn absurdly_deep_documents_are_refused() {
        let deep = (0..500).fold(Value::Null, |inner, _| Value::List(vec![ListEntry::Value(inner)]));
        let mut documents = vec![vec![Item::Pair("a".to_owned(), deep)]];

        assert!(seal(&mut documents, &cipher(), &scheme(), &Memory::default()).is_err());
    }
}
