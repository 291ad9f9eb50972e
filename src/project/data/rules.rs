//! The rules that no schema can say: what must be unique, lie inside, or come together.
//!
//! Begin at [`check`], which asks the schema first and gathers every mistake.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::DataWarning;
use super::check::Checker;
use super::cluster::{ENABLING, NEEDED};
use super::fault::{self, Fault};
use super::node::{Content, Entry, Node, given};
use super::schema::{cluster_schema, nodes_schema};
use crate::error::Result;

/// What no two machines may share.
const UNIQUE: [&str; 4] = ["name", "address", "mac_addr", "vm_id"];

/// Checks merged data: the error has every mistake, the warnings what is odd.
pub fn check(entries: &[Entry]) -> Result<Vec<DataWarning>> {
    let mut checker = Checker::default();
    checker.map(entries, None, &whole_schema(), "");
    let nodes = given(entries, "nodes").map_or(&[][..], |nodes| nodes.items());
    uniqueness(nodes, &mut checker.faults);
    inside_network(entries, nodes, &mut checker.faults);
    proxmox(entries, nodes, &mut checker);
    fault::all(checker.faults).map_or(Ok(checker.warnings), Err)
}

/// Returns the schema of both files together, for they are merged before they are checked.
fn whole_schema() -> serde_json::Value {
    let mut schema = cluster_schema();
    schema["properties"]["nodes"] = nodes_schema()["properties"]["nodes"].take();
    schema
}

fn uniqueness(nodes: &[Arc<Node>], faults: &mut Vec<Fault>) {
    for key in UNIQUE {
        let mut first: HashMap<String, usize> = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let Some(value) = node.get(key).filter(|value| matches!(value.content, Content::Scalar(_)))
            else {
                continue;
            };
            let text = identity(key, value);
            if let Some(other) = first.get(&text) {
                let message =
                    format!("`nodes[{index}].{key}` must be unique, `nodes[{other}]` has it already");
                faults.push(Fault::new(&value.place, message).found(fault::found(key, value)));
            } else {
                first.insert(text, index);
            }
        }
    }
}

/// Returns what makes a value the same as another: an IPv6 address has several spellings.
fn identity(key: &str, value: &Node) -> String {
    let text = value.as_str().map_or_else(|| value.to_value().to_string(), str::to_lowercase);
    match text.parse::<IpAddr>() {
        Ok(address) if key == "address" => address.to_string(),
        _ => text,
    }
}

fn inside_network(entries: &[Entry], nodes: &[Arc<Node>], faults: &mut Vec<Fault>) {
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

fn proxmox(entries: &[Entry], nodes: &[Arc<Node>], checker: &mut Checker) {
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
        let hint = "add it, or leave `proxmox_api_url` out".to_owned();
        checker.faults.push(Fault::new(empty.unwrap_or(place), message).hint(Some(hint)));
    }
    for (index, node) in nodes.iter().enumerate() {
        if matches!(node.content, Content::Map(_)) && node.get("schematic_id").is_none() {
            let message = format!("`nodes[{index}].schematic_id` is missing: the VM boots from that image");
            checker.faults.push(Fault::new(&node.place, message));
        }
    }
}

fn half_enabled(entries: &[Entry], given_keys: &[&str]) -> Option<DataWarning> {
    let key = given_keys.first()?;
    let place = entries.iter().find(|entry| entry.key == **key).map(|entry| entry.place.clone())?;
    let other = ENABLING.iter().find(|other| *other != key)?;
    let message = format!("`{key}` without `{other}`: Proxmox is not enabled and no VM is rendered");
    Some(DataWarning { place, message })
}
