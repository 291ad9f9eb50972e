//! Hetzner Cloud: servers.

use serde_json::Value;

use super::{Reader, runs};
use crate::inventory::addresses::Preference;
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    (kind == "hcloud_server").then_some(server)
}

fn server(attributes: &Value) -> Option<Machine> {
    let mut machine = Machine::named(attributes, &["name", "id"])
        .anchored("hcloud", attributes, "id")
        .public(attributes, &["ipv4_address", "ipv6_address"])
        .private(attributes, &["network.ip"])
        .labelled(attributes, "labels")
        .fact("region", attributes, "location")
        .fact("zone", attributes, "datacenter")
        .fact("size", attributes, "server_type")
        .fact("image", attributes, "image")
        .running(runs(attributes, "status", &["running", "starting"]));
    machine.addresses.preference = Preference::Public;
    Some(machine)
}
