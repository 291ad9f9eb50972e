//! OpenStack: instances of Nova.

use serde_json::Value;

use super::{Reader, runs};
use crate::inventory::lookup::text_at;
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    (kind == "openstack_compute_instance_v2").then_some(instance)
}

/// The networks' addresses come after the one that is meant for access; an older provider put the
/// floating one into the networks.
fn instance(attributes: &Value) -> Option<Machine> {
    let mut networks: Vec<&Value> = attributes["network"].as_array().into_iter().flatten().collect();
    networks.sort_by_key(|network| network["access_network"] != true);
    let mut machine = Machine::named(attributes, &["name", "id"])
        .anchored("openstack", attributes, "id")
        .anchored("openstack-port", attributes, "network.port")
        .public(attributes, &["floating_ip", "network.floating_ip"])
        .reached(attributes, &["access_ip_v4", "access_ip_v6"]);
    for network in networks {
        let fixed = ["fixed_ip_v4", "fixed_ip_v6"].into_iter().filter_map(|name| text_at(network, name));
        fixed.for_each(|address| machine.addresses.add(&address));
    }
    let machine = machine
        .tagged(attributes, "all_tags")
        .tagged(attributes, "tags")
        .labelled(attributes, "all_metadata")
        .labelled(attributes, "metadata")
        .fact("region", attributes, "region")
        .fact("zone", attributes, "availability_zone")
        .fact("size", attributes, "flavor_name")
        .fact("image", attributes, "image_name")
        .running(runs(attributes, "power_state", &["active"]));
    Some(machine)
}
