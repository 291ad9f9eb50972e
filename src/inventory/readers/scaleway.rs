//! Scaleway: instances and bare metal.

use serde_json::Value;

use super::{Reader, runs};
use crate::inventory::addresses::Preference;
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    match kind {
        "scaleway_instance_server" => Some(instance),
        "scaleway_baremetal_server" => Some(bare_metal),
        _ => None,
    }
}

/// Older providers have one address of each sort in place of the lists.
fn instance(attributes: &Value) -> Option<Machine> {
    let mut machine = Machine::named(attributes, &["name", "id"])
        .anchored("scaleway", attributes, "id")
        .public(attributes, &["public_ips.address", "public_ip", "ipv6_address"])
        .private(attributes, &["private_ips.address", "private_ip"])
        .tagged(attributes, "tags")
        .fact("zone", attributes, "zone")
        .fact("size", attributes, "type")
        .fact("image", attributes, "image")
        .running(runs(attributes, "state", &["started", "running"]));
    machine.addresses.preference = Preference::Public;
    Some(machine)
}

fn bare_metal(attributes: &Value) -> Option<Machine> {
    let machine = Machine::named(attributes, &["name", "hostname", "id"])
        .reached(attributes, &["ipv4.address", "ips.address", "private_ips.address"])
        .tagged(attributes, "tags")
        .fact("zone", attributes, "zone")
        .fact("size", attributes, "offer_name");
    Some(machine)
}
