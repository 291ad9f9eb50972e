//! Unknown keys that are probably a known one misspelt.
//!
//! A project's own keys are never a mistake, and there may be hundreds. So a key counts as a
//! slip only where the known key itself is not there, and
//! - it is an error where one letter is wrong, missing, doubled or swapped, or only case and
//!   separators differ, and the known key has six letters or more: too near to be chance;
//! - it is a warning where two letters differ, all of them in words of five letters or more,
//!   or one letter does in a shorter key. Names such as `proxmox_csi_token_id` beside
//!   `proxmox_api_token_id` are neither.
//!
//! Begin at [`find`].

use serde_json::{Map, Value};

use super::DataWarning;
use super::check::{Checker, join};
use super::fault::Fault;
use super::node::Entry;
use crate::model::nearest;
use crate::model::nearest::distance;

/// The shortest known key of which one wrong letter is an error.
const LONG_KEY: usize = 6;
/// The shortest word in which two wrong letters still mean the same word.
const LONG_WORD: usize = 5;

/// How many letters may be wrong in a slip.
const MOST_WRONG: u32 = 2;

/// How sure it is that a key is a misspelt one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slip {
    Sure,
    Likely,
}

/// Tells the unknown keys of a map that are probably known ones misspelt.
pub fn find(entries: &[Entry], schema: &Value, path: &str, checker: &mut Checker) {
    let Some(properties) = schema["properties"].as_object() else { return };
    // A required key is told as missing, with the key that may be meant for it.
    let required = |key: &str| schema["required"].as_array().is_some_and(|keys| keys.contains(&key.into()));
    let is_there = |key: &str| entries.iter().any(|entry| entry.key == key);
    let absent = properties.keys().filter(|key| !required(key) && !is_there(key));
    let absent: Vec<Known<'_>> = absent.map(|key| Known { key, letters: letter_set(key) }).collect();
    for entry in entries.iter().filter(|entry| !properties.contains_key(&entry.key)) {
        let Some((slip, known)) = closest(&entry.key, &absent) else { continue };
        let name = join(path, &entry.key);
        let message = format!("unknown key `{name}` is nearly `{known}`, which is not there");
        let hint = format!("did you mean `{known}`?");
        match slip {
            Slip::Sure => checker.faults.push(Fault::new(&entry.place, message).hint(Some(hint))),
            Slip::Likely => {
                let message = format!("{message}; {hint}");
                checker.warnings.push(DataWarning { place: entry.place.clone(), message });
            }
        }
    }
}

/// A key that could be meant, and the letters in it.
struct Known<'a> {
    key: &'a str,
    letters: u64,
}

fn closest<'a>(key: &str, absent: &[Known<'a>]) -> Option<(Slip, &'a str)> {
    let letters = letter_set(key);
    let mut likely = None;
    // There may be thousands of keys: nearly all of them end at this one look.
    for known in absent.iter().filter(|known| (known.letters ^ letters).count_ones() <= 2 * MOST_WRONG) {
        match slip(key, known.key) {
            Some(Slip::Sure) => return Some((Slip::Sure, known.key)),
            Some(Slip::Likely) => likely = likely.or(Some((Slip::Likely, known.key))),
            None => {}
        }
    }
    likely
}

fn slip(key: &str, known: &str) -> Option<Slip> {
    // Both are far cheaper than the distance.
    if key.len().abs_diff(known.len()) > 4 || differing_letters(key, known) > 2 * MOST_WRONG {
        return None;
    }
    if letters(key) == letters(known) {
        return Some(Slip::Sure);
    }
    match distance(key, known) {
        0 | 1 if known.len() >= LONG_KEY => Some(Slip::Sure),
        0 | 1 => Some(Slip::Likely),
        2 if differs_in_long_words(key, known) => Some(Slip::Likely),
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

/// Returns a hint for a missing key where an unknown one stands that may be meant for it.
pub fn meant_for(key: &str, entries: &[Entry], properties: &Map<String, Value>) -> Option<String> {
    let unknown =
        entries.iter().map(|entry| entry.key.as_str()).filter(|name| !properties.contains_key(*name));
    nearest(key, unknown).map(|found| format!("is `{found}` meant to be `{key}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_letter_is_a_slip_and_two_are_a_likely_one() {
        assert_eq!(slip("proxmox_api_ulr", "proxmox_api_url"), Some(Slip::Sure));
        assert_eq!(slip("proxmoxNode", "proxmox_node"), Some(Slip::Sure));
        assert_eq!(slip("node-cidr", "node_cidr"), Some(Slip::Sure));
        assert_eq!(slip("talos_verzon", "talos_version"), Some(Slip::Likely));
    }

    #[test]
    fn a_look_at_the_letters_hides_no_slip() {
        let known = Known { key: "talos_version", letters: letter_set("talos_version") };
        let absent = [Known { key: "node_cidr", letters: letter_set("node_cidr") }, known];

        assert_eq!(closest("talos_verzon", &absent), Some((Slip::Likely, "talos_version")));
        assert_eq!(closest("TalosVersion", &absent), Some((Slip::Sure, "talos_version")));
        assert_eq!(closest("xode_cidr", &absent), Some((Slip::Sure, "node_cidr")));
        assert_eq!(closest("some_other_key", &absent), None);
    }

    #[test]
    fn names_that_differ_on_purpose_are_no_slips() {
        assert_eq!(slip("proxmox_csi_token_id", "proxmox_api_token_id"), None);
        assert_eq!(slip("proxmox_endpoint", "proxmox_api_url"), None);
        assert_eq!(slip("disks", "disk"), Some(Slip::Likely));
        assert_eq!(slip("cilium_bgp_router_addr", "cluster_gateway_addr"), None);
    }
}
