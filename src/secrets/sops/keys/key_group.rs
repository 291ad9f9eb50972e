//! A group of master keys in the metadata: age keys as a typed list, all others kept as they are.

use crate::error::Result;
use crate::secrets::sops::plaintext::text_of;
use crate::secrets::sops::tree::{Item, ListEntry, Value, find};

use crate::secrets::sops::refusal::refused;

/// The kinds of master keys that only the real sops can use.
pub const FOREIGN: [&str; 6] = ["kms", "gcp_kms", "hckms", "azure_kv", "hc_vault", "pgp"];

/// What identifies an entry of a foreign kind.
const IDENTIFYING: [&str; 7] = ["arn", "fp", "resource_id", "key_id", "key_name", "name", "vault_url"];

/// More groups or keys than anybody has; a file with more is not read.
const MOST: usize = 255;

/// How the names of the block are ordered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// By name.
    Sorted,
    /// By meaning.
    Classic,
}

/// An age key: for whom the data key is wrapped, and the wrapped key.
#[derive(Clone, Debug, PartialEq)]
pub struct AgeKey {
    /// The public key, as it was written down.
    pub recipient: String,
    /// The armoured message.
    pub wrapped: String,
}

/// A group; any key of it opens its part of the data key.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The keys that this program can use.
    pub age: Vec<AgeKey>,
    /// Everything else of the group.
    pub rest: Vec<Item>,
}

impl Group {
    /// Makes a group of recipients whose keys are yet to be wrapped.
    pub fn of_recipients(recipients: &[String]) -> Self {
        let unwrapped = |recipient: &String| AgeKey { recipient: recipient.clone(), wrapped: String::new() };
        Self { age: recipients.iter().map(unwrapped).collect(), rest: Vec::new() }
    }

    /// Reads a group from the items of its map, or of the metadata where there is only one.
    pub fn read(items: &[Item]) -> Result<Self> {
        let age = match find(items, "age") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::List(entries)) if entries.len() <= MOST => read_age(entries)?,
            Some(_) => return Err(refused("`sops.age` is no list of keys")),
        };
        let foreign = |item: &&Item| matches!(item, Item::Pair(name, _) if FOREIGN.contains(&name.as_str()));
        Ok(Self { age, rest: items.iter().filter(foreign).cloned().collect() })
    }

    /// Tells whether the group has no key at all.
    pub fn is_empty(&self) -> bool {
        self.age.is_empty() && self.foreign().is_empty()
    }

    /// Returns the recipients of the age keys.
    pub fn recipients(&self) -> Vec<&str> {
        self.age.iter().map(|key| key.recipient.as_str()).collect()
    }

    /// Names the keys that only the real sops can use.
    pub fn foreign(&self) -> Vec<String> {
        let entries = self.rest.iter().filter_map(|item| match item {
            Item::Pair(kind, Value::List(entries)) => Some((kind, entries)),
            Item::Pair(..) | Item::Comment(_) => None,
        });
        entries
            .flat_map(|(kind, entries)| entries.iter().filter_map(move |entry| describe(kind, entry)))
            .collect()
    }

    /// Drops the foreign keys that are not among these names.
    pub fn keep_foreign(&mut self, names: &[String]) {
        for item in &mut self.rest {
            if let Item::Pair(kind, Value::List(entries)) = item {
                entries.retain(|entry| describe(kind, entry).is_none_or(|name| names.contains(&name)));
            }
        }
    }

    /// Writes the list of age keys.
    pub fn age_value(&self, style: Style) -> Value {
        let entry = |key: &AgeKey| {
            let enc = Item::Pair("enc".to_owned(), Value::text(key.wrapped.as_str()));
            let recipient = Item::Pair("recipient".to_owned(), Value::text(key.recipient.as_str()));
            ListEntry::Value(Value::Map(match style {
                Style::Sorted => vec![enc, recipient],
                Style::Classic => vec![recipient, enc],
            }))
        };
        Value::List(self.age.iter().map(entry).collect())
    }

    /// Writes the map of one group among several; sops always writes `hc_vault` there.
    pub fn map_value(&self, style: Style) -> Value {
        let mut items = self.rest.clone();
        if find(&items, "hc_vault").is_none() {
            items.push(Item::Pair("hc_vault".to_owned(), Value::List(Vec::new())));
        }
        let age = Item::Pair("age".to_owned(), self.age_value(style));
        match style {
            Style::Sorted => items.insert(0, age),
            Style::Classic => items.push(age),
        }
        Value::Map(items)
    }
}

fn read_age(entries: &[ListEntry]) -> Result<Vec<AgeKey>> {
    let maps = entries.iter().filter_map(|entry| match entry {
        ListEntry::Comment(_) => None,
        ListEntry::Value(value) => Some(value),
    });
    let read = |value: &Value| {
        let Value::Map(items) = value else {
            return None;
        };
        let recipient = text_of(find(items, "recipient")?)?;
        Some(AgeKey { recipient, wrapped: text_of(find(items, "enc")?)? })
    };
    maps.map(|value| read(value).ok_or_else(|| refused("a key of `sops.age` has no `recipient` or no `enc`")))
        .collect()
}

/// Names an entry by its kind and what identifies it.
fn describe(kind: &str, entry: &ListEntry) -> Option<String> {
    let ListEntry::Value(Value::Map(items)) = entry else {
        return None;
    };
    let name = IDENTIFYING.iter().find_map(|name| text_of(find(items, name)?));
    Some(format!("{kind} {}", name.unwrap_or_default()).trim_end().to_owned())
}
