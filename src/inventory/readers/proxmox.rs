//! Proxmox VE, as the provider `bpg/proxmox` keeps it: virtual machines and containers.
//!
//! The agent in a guest tells its addresses by interface, the loopback first, and those of bridges inside
//! of the guest too. Without an agent there is only what the configuration gives.

use std::net::IpAddr;

use serde_json::Value;

use super::Reader;
use crate::inventory::addresses::address_of;
use crate::inventory::lookup::{text_at, texts_at, texts_of};
use crate::inventory::machine::Machine;

/// Beginnings of names of interfaces that lead to nothing but what runs inside of a guest.
const INNER: &[&str] = &[
    "lo",
    "docker",
    "br-",
    "veth",
    "virbr",
    "cni",
    "flannel",
    "cali",
    "cilium",
    "lxc",
    "lxdbr",
    "incusbr",
    "podman",
    "kube",
    "tunl",
    "vxlan",
    "nodelocaldns",
    "dummy",
    "tailscale",
    "zt",
    "wg",
];

pub(super) fn reader(kind: &str) -> Option<Reader> {
    match kind {
        "proxmox_virtual_environment_vm"
        | "proxmox_virtual_environment_vm2"
        | "proxmox_vm"
        | "proxmox_virtual_environment_cloned_vm"
        | "proxmox_cloned_vm" => Some(vm),
        "proxmox_virtual_environment_container" | "proxmox_container" => Some(container),
        _ => None,
    }
}

fn vm(attributes: &Value) -> Option<Machine> {
    let names = texts_by_interface(attributes);
    let machine = machine(attributes, "name", "vm", names)?;
    let user = text_at(attributes, "initialization.user_account.username");
    Some(Machine { user, ..machine })
}

fn container(attributes: &Value) -> Option<Machine> {
    let families = ["ipv4", "ipv6"].into_iter();
    let told = families.flat_map(|family| attributes[family].as_object().into_iter().flatten());
    let told = told.map(|(interface, value)| (interface.clone(), texts_of(value)));
    machine(attributes, "initialization.hostname", "ct", told.collect())
}

/// Returns the addresses that the agent tells, by interface.
fn texts_by_interface(attributes: &Value) -> Vec<(String, Vec<String>)> {
    let names = attributes["network_interface_names"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |index: usize| names.get(index).and_then(Value::as_str).unwrap_or_default().to_owned();
    let lists = ["ipv4_addresses", "ipv6_addresses"].into_iter();
    let lists = lists.flat_map(|family| attributes[family].as_array().into_iter().flatten().enumerate());
    lists.map(|(index, list)| (name(index), texts_of(list))).collect()
}

fn machine(attributes: &Value, name: &str, word: &str, told: Vec<(String, Vec<String>)>) -> Option<Machine> {
    if attributes["template"] == true {
        return None;
    }
    let mut machine = Machine::named(attributes, &[name]);
    machine.names.extend(text_at(attributes, "vm_id").map(|id| format!("{word}-{id}")));
    let configured = texts_at(attributes, "initialization.ip_config.ipv4.address");
    let configured = [configured, texts_at(attributes, "initialization.ip_config.ipv6.address")].concat();
    for address in in_order(told, &configured) {
        machine.addresses.add(&address);
    }
    let machine = machine
        .tagged(attributes, "tags")
        .fact("vm_id", attributes, "vm_id")
        .fact("node", attributes, "node_name")
        .fact("pool", attributes, "pool_id")
        .running(attributes["started"].as_bool());
    Some(machine)
}

/// Returns the addresses with the best first: what is configured and there, then what is there, interfaces
/// that lead outside before others, then what only is configured.
fn in_order(mut told: Vec<(String, Vec<String>)>, configured: &[String]) -> Vec<String> {
    let is_inner = |interface: &str| INNER.iter().any(|start| interface.starts_with(start));
    told.sort_by_key(|(interface, _)| is_inner(interface));
    let mut there: Vec<String> = told.into_iter().flat_map(|(_, texts)| texts).collect();
    let wanted: Vec<IpAddr> = configured.iter().filter_map(|text| address_of(text)).collect();
    there.sort_by_key(|text| !address_of(text).is_some_and(|address| wanted.contains(&address)));
    // Of what a guest tells nothing is left out, but an address that it does not have is no way to it.
    let is_known = there.iter().any(|text| address_of(text).is_some());
    if is_known { there } else { configured.to_vec() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn best(attributes: &Value) -> Option<String> {
        vm(attributes).and_then(|machine| machine.addresses.best())
    }

    #[test]
    fn the_agent_tells_the_address_and_bridges_inside_of_a_guest_come_last() {
        let agent = json!({"name": "a", "network_interface_names": ["lo", "docker0", "eth0"],
            "ipv4_addresses": [["127.0.0.1"], ["172.17.0.1"], ["10.0.0.9", "10.0.0.5"]],
            "ipv6_addresses": [["::1"], [], ["fe80::1", "2001:db8::5"]]});

        assert_eq!(best(&agent).as_deref(), Some("10.0.0.9"));
        let config = json!([{"ip_config": [{"ipv4": [{"address": "10.0.0.5/24"}]}]}]);
        let mut configured = agent.clone();
        configured["initialization"] = config;
        assert_eq!(best(&configured).as_deref(), Some("10.0.0.5"));
    }

    #[test]
    fn without_an_agent_the_configuration_tells_it() {
        let with = |address: &str, agent: Value| {
            json!({"name": "a", "ipv4_addresses": agent,
                "initialization": [{"ip_config": [{"ipv4": [{"address": address}], "ipv6": []}]}]})
        };

        assert_eq!(best(&with("10.0.0.7/24", json!([]))).as_deref(), Some("10.0.0.7"));
        assert_eq!(best(&with("10.0.0.7/24", json!([["127.0.0.1"]]))).as_deref(), Some("10.0.0.7"));
        assert_eq!(best(&with("dhcp", Value::Null)), None);
    }

    #[test]
    fn a_template_is_no_machine_and_one_without_a_name_goes_by_its_number() {
        assert!(vm(&json!({"name": "t", "template": true})).is_none());
        assert_eq!(vm(&json!({"name": null, "vm_id": 105})).expect("a machine").names, ["vm-105"]);
        let container_of = json!({"vm_id": 7, "initialization": [{"hostname": "dns"}], "ipv4": {"eth0": "10.0.0.3/24", "lo": "127.0.0.1"}});
        let found = container(&container_of).expect("a machine");
        assert_eq!((found.names[0].as_str(), found.addresses.best().as_deref()), ("dns", Some("10.0.0.3")));
    }
}
