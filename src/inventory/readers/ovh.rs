//! OVH: instances of the public cloud, by its own provider; the others are OpenStack's.

use serde_json::Value;

use super::{Reader, runs};
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    (kind == "ovh_cloud_project_instance").then_some(instance)
}

fn instance(attributes: &Value) -> Option<Machine> {
    let machine = Machine::named(attributes, &["name", "id"])
        .reached(attributes, &["addresses.ip", "network.private.ip"])
        .fact("region", attributes, "region")
        .fact("zone", attributes, "availability_zone")
        .fact("size", attributes, "flavor_name")
        .fact("image", attributes, "image_id")
        .running(runs(attributes, "status", &["ACTIVE"]));
    Some(machine)
}
