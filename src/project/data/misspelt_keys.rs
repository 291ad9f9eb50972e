//! Unknown keys that are probably a known one misspelt, or without the beginning of its name.
//!
//! A project's own keys are never a mistake, and there may be hundreds. So a key counts as odd only
//! where the known key itself is not there, and
//! - one letter is wrong, missing, doubled or swapped, or only case and separators differ;
//! - two letters differ, all of them in words of five letters or more. Names such as
//!   `proxmox_csi_token_id` beside `proxmox_api_token_id` are none;
//! - words are missing before it: `memory` for `vm_memory`; or, in a map below the top, `vm_` is too many.
//!
//! Whether a template reads the key is for others to say. Begin at [`find`].

use serde_json::{Map, Value};

use super::node::{Content, DataPlace, MapEntry, Node, join};
use crate::model::distance;
use crate::model::nearest;

/// The shortest word in which two wrong letters still mean the same word.
const LONG_WORD: usize = 5;

/// How many letters may be wrong in a misspelt key.
const MOST_WRONG: u32 = 2;

/// How many keys may be meant by one that is only the end of their names.
const MOST_MEANT: usize = 3;

/// An unknown key that is probably a known one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OddKey {
    /// Where it stands.
    pub place: DataPlace,
    /// How it is reached: `nodes[0].memory`.
    pub path: String,
    /// The key itself.
    pub key: String,
    /// What is probably meant.
    pub meant: Vec<String>,
    /// Which map it is in.
    pub level: KeyLevel,
    /// How many other machines have it too.
    pub others: usize,
}

/// Which map a key is in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyLevel {
    /// The data itself.
    Top,
    /// A known map of the data.
    Map,
    /// A machine of `nodes`.
    Node,
}

/// Returns the unknown keys of the data, of its known maps and of its machines that are probably
/// known ones; what several machines have alike is told once.
pub fn find(entries: &[MapEntry], schema: &Value) -> Vec<OddKey> {
    let mut odd = odd_in(entries, schema, "", KeyLevel::Top);
    let mut of_nodes: Vec<OddKey> = Vec::new();
    let Some(properties) = schema["properties"].as_object() else { return odd };
    for entry in entries {
        let Some(below) = properties.get(&entry.key) else { continue };
        match &entry.value.content {
            Content::Map(inner) => odd.extend(odd_in(inner, below, &entry.key, KeyLevel::Map)),
            Content::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{}[{index}]", entry.key);
                    add_of_node(item, &below["items"], &path, &mut of_nodes);
                }
            }
            Content::Scalar(_) => {}
        }
    }
    odd.extend(of_nodes);
    odd
}

fn add_of_node(node: &Node, schema: &Value, path: &str, known: &mut Vec<OddKey>) {
    for odd in odd_in(node.entries(), schema, path, KeyLevel::Node) {
        match known.iter_mut().find(|known| known.key == odd.key && known.meant == odd.meant) {
            Some(known) => known.others += 1,
            None => known.push(odd),
        }
    }
}

fn odd_in(entries: &[MapEntry], schema: &Value, path: &str, level: KeyLevel) -> Vec<OddKey> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    // A required key is told as missing, with the key that may be meant for it.
    let required = |key: &str| schema["required"].as_array().is_some_and(|keys| keys.contains(&key.into()));
    let is_there = |key: &str| entries.iter().any(|entry| entry.key == key);
    let absent = properties.keys().filter(|key| !required(key) && !is_there(key));
    let absent: Vec<Known<'_>> = absent.map(|key| Known { key, letters: letter_set(key) }).collect();
    let unknown = entries.iter().filter(|entry| !properties.contains_key(&entry.key));
    let odd = unknown.filter_map(|entry| {
        let meant = meant_by(&entry.key, &absent, level)?;
        let (place, path) = (entry.place.clone(), join(path, &entry.key));
        Some(OddKey { place, path, key: entry.key.clone(), meant, level, others: 0 })
    });
    odd.collect()
}

/// A key that could be meant, and the letters in it.
struct Known<'a> {
    key: &'a str,
    letters: u64,
}

fn meant_by(key: &str, absent: &[Known<'_>], level: KeyLevel) -> Option<Vec<String>> {
    if let Some(known) = closest(key, absent) {
        return Some(vec![known.to_owned()]);
    }
    let longer = match level {
        KeyLevel::Map => key.strip_prefix("vm_"),
        KeyLevel::Top | KeyLevel::Node => None,
    };
    if let Some(known) = absent.iter().find(|known| longer == Some(known.key)) {
        return Some(vec![known.key.to_owned()]);
    }
    let ends = |known: &&Known<'_>| {
        known.key.strip_suffix(key).is_some_and(|before| key.len() > 1 && before.ends_with('_'))
    };
    let meant: Vec<String> = absent.iter().filter(ends).map(|known| known.key.to_owned()).collect();
    (1..=MOST_MEANT).contains(&meant.len()).then_some(meant)
}

fn closest<'a>(key: &str, absent: &[Known<'a>]) -> Option<&'a str> {
    let letters = letter_set(key);
    // There may be thousands of keys: nearly all of them end at this one look.
    let candidates = absent.iter().filter(|known| (known.letters ^ letters).count_ones() <= 2 * MOST_WRONG);
    let found = candidates.filter_map(|known| Some((misspelling_distance(key, known.key)?, known.key)));
    found.min().map(|(_, known)| known)
}

/// Returns how many letters are wrong in a key that is probably another misspelt.
fn misspelling_distance(key: &str, known: &str) -> Option<usize> {
    // Both are far cheaper than the distance.
    if key.len().abs_diff(known.len()) > 4 || differing_letters(key, known) > 2 * MOST_WRONG {
        return None;
    }
    if letters(key) == letters(known) {
        return Some(0);
    }
    match distance(key, known) {
        wrong @ (0 | 1) => Some(wrong),
        2 if differs_in_long_words(key, known) => Some(2),
        _ => None,
    }
}

/// Returns the letters and digits of a key, capitals aside, one bit for each.
///
/// Each wrong letter takes one away and adds another at most.
fn letter_set(key: &str) -> u64 {
    key.bytes().filter_map(|byte| char::from(byte).to_digit(36)).fold(0, |set, digit| set | 1 << digit)
}

/// Returns how many letters one of two keys has that the other has not, wherever they stand.
///
/// Each wrong letter adds two at most, so keys of a small distance never have many.
fn differing_letters(one: &str, other: &str) -> u32 {
    let mut counts = [0_i32; 36];
    let mut count = |key: &str, step: i32| {
        for digit in key.chars().filter_map(|letter| letter.to_digit(36)) {
            counts[digit as usize] += step;
        }
    };
    count(one, 1);
    count(other, -1);
    counts.iter().map(|count| count.unsigned_abs()).sum()
}

fn letters(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn differs_in_long_words(key: &str, known: &str) -> bool {
    let (ours, theirs) = (known.split('_').collect::<Vec<_>>(), key.split('_').collect::<Vec<_>>());
    let mut pairs = ours.iter().zip(&theirs).filter(|(one, other)| one != other);
    ours.len() == theirs.len() && pairs.all(|(one, other)| one.len().min(other.len()) >= LONG_WORD)
}

/// Returns the key that stands there for a missing one, a letter or two wrong.
pub fn misspelt<'a>(key: &str, entries: &'a [MapEntry]) -> Option<&'a str> {
    let others = entries.iter().map(|entry| entry.key.as_str()).filter(|other| *other != key);
    others.filter_map(|other| Some((misspelling_distance(other, key)?, other))).min().map(|(_, other)| other)
}

/// Returns a hint for a missing key where an unknown one stands that may be meant for it.
pub fn meant_for(key: &str, entries: &[MapEntry], properties: &Map<String, Value>) -> Option<String> {
    let unknown =
        entries.iter().map(|entry| entry.key.as_str()).filter(|name| !properties.contains_key(*name));
    nearest(key, unknown).map(|found| format!("is `{found}` meant to be `{key}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn absent<'a>(keys: &[&'a str]) -> Vec<Known<'a>> {
        keys.iter().map(|key| Known { key, letters: letter_set(key) }).collect()
    }

    #[test]
    fn the_nearest_key_is_meant() {
        assert_eq!(misspelling_distance("proxmox_api_ulr", "proxmox_api_url"), Some(1));
        assert_eq!(misspelling_distance("proxmoxNode", "proxmox_node"), Some(0));
        assert_eq!(misspelling_distance("node-cidr", "node_cidr"), Some(0));
        assert_eq!(misspelling_distance("talos_verzon", "talos_version"), Some(2));
        assert_eq!(misspelling_distance("disks", "disk"), Some(1));
    }

    #[test]
    fn a_look_at_the_letters_hides_no_slip() {
        let absent = absent(&["node_cidr", "talos_version"]);

        assert_eq!(closest("talos_verzon", &absent), Some("talos_version"));
        assert_eq!(closest("TalosVersion", &absent), Some("talos_version"));
        assert_eq!(closest("xode_cidr", &absent), Some("node_cidr"));
        assert_eq!(closest("some_other_key", &absent), None);
    }

    #[test]
    fn names_that_differ_on_purpose_are_no_slips() {
        assert_eq!(misspelling_distance("proxmox_csi_token_id", "proxmox_api_token_id"), None);
        assert_eq!(misspelling_distance("proxmox_endpoint", "proxmox_api_url"), None);
        assert_eq!(misspelling_distance("cilium_bgp_router_addr", "cluster_gateway_addr"), None);
    }

    #[test]
    fn the_end_of_a_name_is_as_good_as_the_name() {
        let node = absent(&["schematic_id", "vm_id", "vm_memory", "vm_disk_size"]);
        let meant = |key: &str| meant_by(key, &node, KeyLevel::Node).unwrap_or_default();

        assert_eq!(meant("memory"), ["vm_memory"]);
        assert_eq!(meant("size"), ["vm_disk_size"]);
        assert_eq!(meant("id"), ["schematic_id", "vm_id"]);
        assert!(meant("ory").is_empty() && meant("y").is_empty() && meant("").is_empty());
        let size = absent(&["cores", "memory"]);
        assert_eq!(meant_by("vm_cores", &size, KeyLevel::Map).unwrap_or_default(), ["cores"]);
        assert_eq!(meant_by("vm_cores", &size, KeyLevel::Top), None);
    }
}
