//! Oracle Cloud: compute instances.

use serde_json::Value;

use super::{Reader, runs, says};
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    (kind == "oci_core_instance").then_some(instance)
}

fn instance(attributes: &Value) -> Option<Machine> {
    if says(attributes, "state", &["TERMINATED", "TERMINATING"]) {
        return None;
    }
    let names = ["display_name", "hostname_label", "create_vnic_details.hostname_label", "id"];
    let machine = Machine::named(attributes, &names)
        .public(attributes, &["public_ip"])
        .private(attributes, &["private_ip", "create_vnic_details.private_ip"])
        .labelled(attributes, "freeform_tags")
        .labelled(attributes, "defined_tags")
        .fact("region", attributes, "region")
        .fact("zone", attributes, "availability_domain")
        .fact("size", attributes, "shape")
        .running(runs(attributes, "state", &["RUNNING", "STARTING", "PROVISIONING"]));
    Some(machine)
}
