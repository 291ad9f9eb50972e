//! The rules that no schema can say: what must be unique, lie inside, or come together.
//!
//! Begin at [`check`], which asks the schema first and gathers every mistake.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde_json::Value;

use super::check::Checker;
use super::fault;
use super::fault::Fault;
use super::node::{Content, MapEntry, Node, given};
use super::schema::{ENABLING, NEEDED, cluster_schema, nodes_schema};
use super::{DataWarning, misspelt_keys};
use crate::error::Result;

/// What no two machines may share.
const UNIQUE: [&str; 3] = ["name", "address", "mac_addr"];
/// What no two machines should share, although the data may say so elsewhere.
const BETTER_UNIQUE: [&str; 1] = ["vm_id"];

/// Checks merged data: the error has every mistake, the warnings what is odd.
pub fn check(entries: &[MapEntry]) -> Result<Vec<DataWarning>> {
    let mut checker = Checker::default();
    checker.map(entries, None, &whole_schema(), "");
    let nodes = given(entries, "nodes").map_or(&[][..], |nodes| nodes.items());
    uniqueness(nodes, &mut checker);
    inside_network(entries, nodes, &mut checker.faults);
    proxmox(entries, nodes, &mut checker);
    fault::all(checker.faults).map_or(Ok(checker.warnings), Err)
}

/// Returns the schema of both files together, for they are merged before they are checked.
pub fn whole_schema() -> Value {
    let mut schema = cluster_schema();
    schema["properties"]["nodes"] = nodes_schema()["properties"]["nodes"].take();
    schema
}

fn uniqueness(nodes: &[Arc<Node>], checker: &mut Checker) {
    for key in UNIQUE {
        for (index, other, value) in repeated(nodes, key) {
            let message = format!("`nodes[{index}].{key}` must be unique, `nodes[{other}]` has it already");
            checker.faults.push(Fault::new(&value.place, message).found(fault::found(key, value)));
        }
    }
    for key in BETTER_UNIQUE {
        for (index, other, value) in repeated(nodes, key) {
            let found = fault::found(key, value);
            let message =
                format!("`nodes[{index}].{key}` should be unique, `nodes[{other}]` has {found} already");
            checker.warn(&value.place, message);
        }
    }
}

/// Returns the values of a key that another machine has already, each with its machine and the other.
fn repeated<'a>(nodes: &'a [Arc<Node>], key: &str) -> Vec<(usize, usize, &'a Node)> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let value = node.get(key).filter(|value| matches!(value.content, Content::Scalar(_)));
        let Some(value) = value else { continue };
        match first.entry(identity(key, value)) {
            Entry::Occupied(other) => found.push((index, *other.get(), &**value)),
            Entry::Vacant(place) => {
                place.insert(index);
            }
        }
    }
    found
}

/// Returns what makes a value the same as another: an IPv6 address has several spellings.
fn identity(key: &str, value: &Node) -> String {
    let text = value.as_str().map_or_else(|| value.to_value().to_string(), str::to_lowercase);
    match text.parse::<IpAddr>() {
        Ok(address) if key == "address" => address.to_string(),
        _ => text,
    }
}

fn inside_network(entries: &[MapEntry], nodes: &[Arc<Node>], faults: &mut Vec<Fault>) {
    let network = given(entries, "node_cidr").and_then(|node| node.as_str());
    let Some(network) = network.and_then(|text| text.parse::<IpNet>().ok()) else { return };
    for (index, node) in nodes.iter().enumerate() {
        let Some(value) = node.get("address") else { continue };
        let Some(address) = value.as_str().and_then(|text| text.parse::<IpAddr>().ok()) else { continue };
        if !network.contains(&address) {
            let message = format!("`nodes[{index}].address` must be inside `node_cidr`, {}", network.trunc());
            faults.push(Fault::new(&value.place, message).found(fault::found("address", value)));
        }
    }
}

fn proxmox(entries: &[MapEntry], nodes: &[Arc<Node>], checker: &mut Checker) {
    let has = |key: &str| given(entries, key).is_some_and(|value| value.as_str() != Some(""));
    let given_keys: Vec<&str> = ENABLING.into_iter().filter(|key| has(key)).collect();
    if given_keys.len() < ENABLING.len() {
        checker.warnings.extend(half_enabled(entries, &given_keys));
        return;
    }
    let Some(place) = entries.iter().find(|entry| entry.key == ENABLING[0]).map(|entry| &entry.place) else {
        return;
    };
    for key in NEEDED.iter().filter(|key| given(entries, key).is_none()) {
        let message = format!(
            "`{key}` is missing: `proxmox_api_url` and `proxmox_node` enable Proxmox, which needs it"
        );
        let empty = entries.iter().find(|entry| entry.key == **key).map(|entry| &entry.place);
        let hint = || "add it, or leave `proxmox_api_url` out".to_owned();
        let meant = misspelt_keys::misspelt(key, entries);
        let hint = meant.map_or_else(hint, |other| format!("is `{other}` meant to be it?"));
        checker.faults.push(Fault::new(empty.unwrap_or(place), message).hint(Some(hint)));
    }
    for (index, node) in nodes.iter().enumerate() {
        if matches!(node.content, Content::Map(_)) && node.get("schematic_id").is_none() {
            let message = format!("`nodes[{index}].schematic_id` is missing: the VM boots from that image");
            checker.faults.push(Fault::new(&node.place, message));
        }
    }
}

fn half_enabled(entries: &[MapEntry], given_keys: &[&str]) -> Option<DataWarning> {
    let key = given_keys.first()?;
    let place = entries.iter().find(|entry| entry.key == **key).map(|entry| entry.place.clone())?;
    let other = ENABLING.iter().find(|other| *other != key)?;
    let message = format!("`{key}` without `{other}`: Proxmox is not enabled and no VM is rendered");
    Some(DataWarning { place, message })
}
