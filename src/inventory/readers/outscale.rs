//! 3DS Outscale: virtual machines.

use serde_json::Value;

use super::{Reader, runs, says};
use crate::inventory::lookup::text_at;
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    (kind == "outscale_vm").then_some(vm)
}

/// Tags are a list of pairs; the one called `Name` is what people call it.
fn vm(attributes: &Value) -> Option<Machine> {
    if says(attributes, "state", &["terminated"]) {
        return None;
    }
    let public = ["public_ip", "primary_nic.link_public_ip.public_ip", "nics.link_public_ip.public_ip"];
    let private = ["private_ip", "private_ips", "primary_nic.private_ips.private_ip"];
    let mut machine = Machine::named(attributes, &["vm_id", "id"])
        .anchored("outscale", attributes, "vm_id")
        .public(attributes, &public)
        .private(attributes, &private)
        .fact("zone", attributes, "placement_subregion_name")
        .fact("size", attributes, "vm_type")
        .fact("image", attributes, "image_id")
        .running(runs(attributes, "state", &["running", "pending"]));
    let tags = attributes["tags"].as_array().into_iter().flatten();
    let pair =
        |tag: &Value| Some((text_at(tag, "key")?, tag["value"].as_str().unwrap_or_default().to_owned()));
    machine.labels.extend(tags.filter_map(pair));
    let name = machine.labels.iter().find(|(key, value)| key == "Name" && !value.trim().is_empty());
    if let Some((_, name)) = name.cloned() {
        machine.names.insert(0, name);
    }
    Some(machine)
}
