//! Incus, and LXD, from which it came: containers and virtual machines.

use serde_json::Value;

use super::{Reader, runs};
use crate::inventory::machine::Machine;

pub(super) fn reader(kind: &str) -> Option<Reader> {
    let kinds = ["incus_instance", "lxd_instance", "lxd_container"];
    kinds.contains(&kind).then_some(instance)
}

fn instance(attributes: &Value) -> Option<Machine> {
    let running = attributes["running"].as_bool();
    let machine = Machine::named(attributes, &["name"])
        .reached(attributes, &["ipv4_address", "ip_address", "ipv6_address"])
        .fact("project", attributes, "project")
        .fact("node", attributes, "target")
        .fact("image", attributes, "image")
        .running(running.or_else(|| runs(attributes, "status", &["running"])));
    Some(machine)
}
