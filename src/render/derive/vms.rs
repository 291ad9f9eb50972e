//! Turns each machine into the VM that a template writes down: everything decided, nothing left
//! to look up. Begin at [`vms`].

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::defaults;
use crate::model::Values;

/// The keys of a VM's size: in `nodes.yaml`, and in the maps of defaults.
const SIZES: [(&str, &str); 4] = [
    ("vm_cores", "cores"),
    ("vm_sockets", "sockets"),
    ("vm_memory", "memory"),
    ("vm_disk_size", "disk_size"),
];
/// What is taken from the machine as it stands, or null.
const COPIED: [&str; 6] = ["name", "address", "mac_addr", "schematic_id", "disk", "mtu"];

/// Returns the VM of each machine, in their order; the defaults are complete already.
pub fn vms(values: &Values) -> Vec<Value> {
    let nodes = values.get("nodes").and_then(Value::as_array).into_iter().flatten();
    let machines = nodes.filter_map(Value::as_object).enumerate();
    machines.map(|(index, node)| Value::Object(vm(values, node, index))).collect()
}

fn vm(values: &Values, node: &Map<String, Value>, index: usize) -> Map<String, Value> {
    let mut vm: Map<String, Value> =
        COPIED.iter().map(|key| ((*key).to_owned(), own(node, key).unwrap_or(Value::Null))).collect();
    let controller = own(node, "controller") == Some(true.into());
    let role = if controller { "controller" } else { "worker" };
    let sizes = &values[&format!("proxmox_vm_{role}_defaults")];
    let mut set = |key: &str, value: Value| vm.insert(key.to_owned(), value);
    set("controller", controller.into());
    set("role", role.into());
    set("secureboot", (own(node, "secureboot") == Some(true.into())).into());
    set("proxmox_node", own(node, "proxmox_node").unwrap_or_else(|| values["proxmox_node"].clone()));
    set("vm_id", own(node, "vm_id").unwrap_or(Value::Null));
    for (key, default) in SIZES {
        set(key, own(node, key).unwrap_or_else(|| sizes[default].clone()));
    }
    set("vm_startup_order", own(node, "vm_startup_order").unwrap_or_else(|| (index + 4).into()));
    set("vm_startup_delay", own(node, "vm_startup_delay").unwrap_or_else(|| 15.into()));
    set("vm_shutdown_delay", own(node, "vm_shutdown_delay").unwrap_or_else(|| 60.into()));
    let node_tags = own(node, "vm_tags").unwrap_or(Value::Null);
    set("tags", defaults::tags([&values["proxmox_vm_advanced"]["tags"], &node_tags]));
    let key = iso_key(&vm);
    vm.insert("iso_key".to_owned(), key.into());
    vm
}

fn own(node: &Map<String, Value>, key: &str) -> Option<Value> {
    node.get(key).filter(|value| !value.is_null()).cloned()
}

/// Returns the name of the image that a VM boots from: one per host, schematic and kind.
fn iso_key(vm: &Map<String, Value>) -> String {
    let text = |key: &str| vm[key].as_str().unwrap_or_default();
    let secure = if vm["secureboot"] == true { "-secureboot" } else { "" };
    format!("{}-{}{secure}", text("proxmox_node"), text("schematic_id"))
}

/// Returns the images that VMs boot from, each once, in the order of the VMs.
pub fn isos(vms: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    let first = vms.iter().filter(|vm| seen.insert(vm["iso_key"].as_str()));
    let iso = |vm: &Value| {
        json!({
            "key": vm["iso_key"], "proxmox_node": vm["proxmox_node"],
            "schematic_id": vm["schematic_id"], "secureboot": vm["secureboot"],
        })
    };
    first.map(iso).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(extra: Value, nodes: Value) -> Values {
        let mut values = json!({"proxmox_api_url": "https://pve", "proxmox_node": "pve", "nodes": nodes});
        for (key, value) in extra.as_object().into_iter().flatten() {
            values[key] = value.clone();
        }
        let Value::Object(mut values) = values else { return Values::new() };
        crate::render::derive::derive(&mut values);
        values
    }

    #[test]
    fn a_vm_takes_each_number_from_its_node_then_its_role_then_all() {
        let values = derived(
            json!({"proxmox_vm_defaults": {"cores": 6, "memory": 4096}, "proxmox_vm_worker_defaults": {"memory": 32768}}),
            json!([
                {"name": "k8s-0", "address": "10.0.0.10", "controller": true},
                {"name": "k8s-1", "address": "10.0.0.11", "controller": false, "vm_cores": 16, "vm_disk_size": 512},
            ]),
        );

        let (controller, worker) = (&values["proxmox_vms"][0], &values["proxmox_vms"][1]);
        assert_eq!((&controller["vm_cores"], &controller["vm_memory"]), (&json!(6), &json!(4096)));
        assert_eq!((&controller["vm_disk_size"], &controller["role"]), (&json!(64), &json!("controller")));
        assert_eq!((&worker["vm_cores"], &worker["vm_memory"]), (&json!(16), &json!(32768)));
        assert_eq!((&worker["vm_disk_size"], &worker["vm_sockets"]), (&json!(512), &json!(1)));
    }

    #[test]
    fn a_vm_has_every_key_whatever_its_node_says() {
        let values = derived(json!({}), json!([{"name": "k8s-0", "address": "10.0.0.10"}]));

        let vm = values["proxmox_vms"][0].as_object().expect("a map");
        assert_eq!(vm.len(), 20);
        assert_eq!((&vm["vm_startup_order"], &vm["vm_startup_delay"]), (&json!(4), &json!(15)));
        assert_eq!((&vm["vm_shutdown_delay"], &vm["vm_id"]), (&json!(60), &json!(null)));
        assert_eq!((&vm["mtu"], &vm["secureboot"]), (&json!(null), &json!(false)));
        assert_eq!(vm["tags"], json!(["kubernetes", "linux", "talos"]));
    }

    #[test]
    fn a_node_may_have_its_own_host_tags_and_start() {
        let values = derived(
            json!({}),
            json!([{"name": "a", "address": "10.0.0.10", "proxmox_node": "pve2", "vm_tags": ["gpu", "linux"],
                "vm_startup_order": 1, "vm_startup_delay": 0, "vm_id": 101}]),
        );

        let vm = &values["proxmox_vms"][0];
        assert_eq!(vm["proxmox_node"], "pve2");
        assert_eq!(vm["tags"], json!(["gpu", "kubernetes", "linux", "talos"]));
        assert_eq!((&vm["vm_startup_order"], &vm["vm_startup_delay"]), (&json!(1), &json!(0)));
        assert_eq!(vm["vm_id"], 101);
    }

    #[test]
    fn an_image_is_listed_once_per_host_schematic_and_kind() {
        let values = derived(
            json!({}),
            json!([
                {"name": "a", "schematic_id": "s1"}, {"name": "b", "schematic_id": "s1"},
                {"name": "c", "schematic_id": "s1", "secureboot": true},
                {"name": "d", "schematic_id": "s1", "proxmox_node": "pve2"},
            ]),
        );

        let keys: Vec<&str> = values["proxmox_isos"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|iso| iso["key"].as_str())
            .collect();
        assert_eq!(keys, ["pve-s1", "pve-s1-secureboot", "pve2-s1"]);
        assert_eq!(values["proxmox_vms"][2]["iso_key"], "pve-s1-secureboot");
    }
}
