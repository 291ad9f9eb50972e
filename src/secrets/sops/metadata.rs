//! The `sops` block of a file: a typed view, and the tree it was read from.
//!
//! What is not understood is kept where it stands, so that a file changes only where it
//! must. New blocks are laid out as sops 3.13.3 does it: sorted by name.

use jiff::Timestamp;

use super::keys::{FOREIGN, Group, Style};
use super::mac::MacScope;
use super::plaintext::{Plaintext, text_of};
use super::refusal::refused;
use super::seal::Scheme;
use super::selection::Selection;
use super::stores;
use super::tree::{Item, ListEntry, Value, find};
use crate::error::Result;

/// The version whose files are written.
const VERSION: &str = "3.13.3";

/// The order in which versions before 3.13 write the block.
const CLASSIC_ORDER: [&str; 19] = [
    "shamir_threshold",
    "key_groups",
    "kms",
    "gcp_kms",
    "hckms",
    "azure_kv",
    "hc_vault",
    "age",
    "lastmodified",
    "mac",
    "pgp",
    "unencrypted_suffix",
    "encrypted_suffix",
    "unencrypted_regex",
    "encrypted_regex",
    "unencrypted_comment_regex",
    "encrypted_comment_regex",
    "mac_only_encrypted",
    "version",
];

/// The metadata of a file.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    items: Vec<Item>,
    /// The order of the names in a flat file.
    order: Vec<String>,
    /// How values are encrypted.
    pub scheme: Scheme,
    /// The encrypted MAC.
    pub mac: String,
    /// When it was last changed, as it is written.
    pub last_modified: String,
    /// How many groups are needed; 0 where nothing is said.
    pub threshold: usize,
    /// The key groups; never empty.
    pub groups: Vec<Group>,
}

impl Metadata {
    /// Reads the block.
    pub fn read(block: stores::Metadata) -> Result<Self> {
        let stores::Metadata { tree: items, order } = block;
        let text = |name: &str| find(&items, name).and_then(text_of);
        let last_modified = text("lastmodified").unwrap_or_default();
        if last_modified.parse::<Timestamp>().is_err() {
            return Err(refused("`sops.lastmodified` is missing or no time"));
        }
        if text("version").is_none_or(|version| semver::Version::parse(&version).is_err()) {
            return Err(refused("`sops.version` is missing or no version"));
        }
        let scope = match text("mac_only_encrypted").as_deref() {
            Some("true" | "True" | "TRUE" | "1") => MacScope::OnlyEncrypted,
            Some(_) | None => MacScope::All,
        };
        let scheme = Scheme { selection: Selection::from_settings(text)?, scope };
        let (mac, threshold) = (text("mac").unwrap_or_default(), read_threshold(text("shamir_threshold"))?);
        let groups = read_groups(&items)?;
        Ok(Self { scheme, mac, last_modified, threshold, groups, items, order })
    }

    /// Makes the block of a new file, without its MAC.
    pub fn new(scheme: Scheme, groups: Vec<Group>, threshold: usize) -> Self {
        let mut items = vec![
            Item::Pair("lastmodified".to_owned(), Value::text("")),
            Item::Pair("mac".to_owned(), Value::text("")),
            Item::Pair("version".to_owned(), Value::text(VERSION)),
        ];
        if let Some((name, text)) = scheme.selection.setting() {
            items.push(Item::Pair(name.to_owned(), Value::text(text)));
        }
        if scheme.scope == MacScope::OnlyEncrypted {
            items.push(Item::Pair("mac_only_encrypted".to_owned(), Value::Bool(true)));
        }
        items.sort_by(|a, b| name_of(a).cmp(name_of(b)));
        let (mac, last_modified) = Default::default();
        let (order, groups_yet) = Default::default();
        let mut made = Self { items, order, scheme, mac, last_modified, threshold: 0, groups: groups_yet };
        made.set_groups(groups, threshold);
        made
    }

    /// Returns the block as it is written.
    pub fn to_stored(&self) -> stores::Metadata {
        stores::Metadata { tree: self.items.clone(), order: self.order.clone() }
    }

    /// Sets the MAC, which is bound to the time of the change; `seal` encrypts for that time.
    pub fn set_mac(
        &mut self,
        mac: &Plaintext,
        now: Timestamp,
        seal: impl FnOnce(&Plaintext, &str) -> Result<String>,
    ) -> Result<()> {
        self.last_modified = self.later_than_before(now);
        self.mac = seal(mac, &self.last_modified)?;
        let style = self.style();
        self.put("lastmodified", Some(Value::text(self.last_modified.as_str())), style);
        self.put("mac", Some(Value::text(self.mac.as_str())), style);
        Ok(())
    }

    /// Writes the time of a change; two changes within a second still have two times.
    fn later_than_before(&self, now: Timestamp) -> String {
        let written = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let next = now.checked_add(jiff::SignedDuration::from_secs(1)).unwrap_or(now);
        Some(written(now)).filter(|time| *time != self.last_modified).unwrap_or_else(|| written(next))
    }

    /// Sets the groups; a threshold belongs to several, but one that is written stays.
    pub fn set_groups(&mut self, groups: Vec<Group>, threshold: usize) {
        let style = self.style();
        match groups.as_slice() {
            [only] => {
                self.put("key_groups", None, style);
                self.put("age", (!only.age.is_empty()).then(|| only.age_value(style)), style);
                for kind in FOREIGN {
                    self.put(kind, find(&only.rest, kind).cloned(), style);
                }
            }
            several => {
                FOREIGN.iter().chain(&["age"]).for_each(|kind| self.put(kind, None, style));
                let list = several.iter().map(|group| ListEntry::Value(group.map_value(style)));
                self.put("key_groups", Some(Value::List(list.collect())), style);
            }
        }
        let number = Value::Int(i64::try_from(threshold).unwrap_or_default());
        self.put("shamir_threshold", (threshold > 0).then_some(number), style);
        self.groups = groups;
        self.threshold = threshold;
    }

    /// Tells the style by the order within an age key, or else by the order of the names.
    fn style(&self) -> Style {
        let key =
            find(&self.items, "age").or_else(|| find(first_map(find(&self.items, "key_groups")), "age"));
        match first_map(key).first().map(name_of) {
            Some("recipient") => Style::Classic,
            Some("enc") => Style::Sorted,
            Some(_) | None if self.items.is_sorted_by_key(name_of) => Style::Sorted,
            Some(_) | None => Style::Classic,
        }
    }

    /// Sets or removes a name: in its place, or where the style of the block puts it.
    fn put(&mut self, name: &str, value: Option<Value>, style: Style) {
        let found = self.items.iter().position(|item| name_of(item) == name);
        match (found, value) {
            (Some(at), Some(value)) => self.items[at] = Item::Pair(name.to_owned(), value),
            (Some(at), None) => drop(self.items.remove(at)),
            (None, Some(value)) => {
                let at = self.place_for(name, style);
                self.items.insert(at, Item::Pair(name.to_owned(), value));
            }
            (None, None) => {}
        }
    }

    fn place_for(&self, name: &str, style: Style) -> usize {
        let rank = |name: &str| CLASSIC_ORDER.iter().position(|known| *known == name);
        let comes_later = |item: &Item| match style {
            Style::Sorted => name_of(item) > name,
            Style::Classic => rank(name_of(item)) > rank(name),
        };
        self.items.iter().position(comes_later).unwrap_or(self.items.len())
    }
}

fn read_groups(items: &[Item]) -> Result<Vec<Group>> {
    let only = Group::read(items)?;
    if !only.is_empty() {
        return Ok(vec![only]);
    }
    let Some(Value::List(entries)) = find(items, "key_groups") else {
        return Err(refused("`sops` names no key that could open the file"));
    };
    let groups = entries.iter().filter_map(|entry| match entry {
        ListEntry::Value(Value::Map(items)) => Some(Group::read(items)),
        ListEntry::Value(_) | ListEntry::Comment(_) => None,
    });
    let groups = groups.collect::<Result<Vec<Group>>>()?;
    if groups.is_empty() || groups.len() > usize::from(u8::MAX) {
        return Err(refused(format!("`sops.key_groups` holds {} groups, expected 1 to 255", groups.len())));
    }
    Ok(groups)
}

fn read_threshold(text: Option<String>) -> Result<usize> {
    let text = text.unwrap_or_default();
    match text.parse::<u8>() {
        Ok(threshold) => Ok(usize::from(threshold)),
        Err(_) if text.is_empty() => Ok(0),
        Err(_) => Err(refused("`sops.shamir_threshold` is no number up to 255")),
    }
}

/// Returns the items of the first map of a list; empty if it is no such list.
fn first_map(list: Option<&Value>) -> &[Item] {
    let Some(Value::List(entries)) = list else {
        return &[];
    };
    let mut maps = entries.iter().filter_map(|entry| match entry {
        ListEntry::Value(Value::Map(items)) => Some(items.as_slice()),
        ListEntry::Value(_) | ListEntry::Comment(_) => None,
    });
    maps.next().unwrap_or(&[])
}

fn name_of(item: &Item) -> &str {
    match item {
        Item::Pair(name, _) => name,
        Item::Comment(_) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(pairs: &[(&str, &str)]) -> stores::Metadata {
        let pair = |(name, text): &(&str, &str)| Item::Pair((*name).to_owned(), Value::text(*text));
        let key = vec![
            Item::Pair("recipient".to_owned(), Value::text("age1x")),
            Item::Pair("enc".to_owned(), Value::text("…")),
        ];
        let age = Item::Pair("age".to_owned(), Value::List(vec![ListEntry::Value(Value::Map(key))]));
        stores::Metadata::new(std::iter::once(age).chain(pairs.iter().map(pair)).collect())
    }

    const TIME: (&str, &str) = ("lastmodified", "2024-01-01T00:00:00Z");
    const MAC: (&str, &str) = ("mac", "m");
    const VERSION: (&str, &str) = ("version", "3.11.0");

    fn names(metadata: &Metadata) -> Vec<&str> {
        metadata.items.iter().map(name_of).collect()
    }

    #[test]
    fn unknown_names_stay_where_they_are() {
        let mut metadata = Metadata::read(block(&[TIME, ("future", "x"), MAC, VERSION])).unwrap();

        let mac = Plaintext::of_comment("new");
        metadata.set_mac(&mac, Timestamp::UNIX_EPOCH, |_, time| Ok(format!("sealed at {time}"))).unwrap();

        assert_eq!(names(&metadata), ["age", "lastmodified", "future", "mac", "version"]);
        assert_eq!(metadata.mac, "sealed at 1970-01-01T00:00:00Z");
    }

    #[test]
    fn a_block_that_lacks_what_it_must_have_is_refused() {
        for lacking in [vec![MAC, VERSION], vec![TIME, MAC], vec![TIME, MAC, ("version", "new")]] {
            assert!(Metadata::read(block(&lacking)).is_err(), "{lacking:?}");
        }
        let mut keyless = block(&[TIME, MAC, VERSION]);
        keyless.tree.remove(0);
        assert!(Metadata::read(keyless).unwrap_err().message().contains("no key"));
    }

    #[test]
    fn a_new_block_is_sorted_as_sops_sorts_it() {
        let scheme =
            Scheme { selection: Selection::from_settings(|_| None).unwrap(), scope: MacScope::OnlyEncrypted };
        let groups = ["a", "b"].map(|name| Group::of_recipients(&[name.to_owned()])).to_vec();

        let mut metadata = Metadata::new(scheme, groups.clone(), 2);
        let several = names(&metadata).join(" ");
        metadata.set_groups(groups[..1].to_vec(), 0);

        let expected =
            "key_groups lastmodified mac mac_only_encrypted shamir_threshold unencrypted_suffix version";
        assert_eq!(several, expected);
        assert_eq!(
            names(&metadata).join(" "),
            "age lastmodified mac mac_only_encrypted unencrypted_suffix version"
        );
    }
}
