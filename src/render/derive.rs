//! Adds to the values of the data files what follows from them: defaults, sizes of VMs, the
//! gateway, and what a project derives by itself in `derive.yaml`.
//!
//! It reads and writes nothing but values. It expects data that was checked; where it was not,
//! what makes no sense is left out. Begin at [`derive`], then [`evaluate_derivations`].

mod defaults;
mod expressions;
mod vms;

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

pub use expressions::evaluate_derivations;

use crate::model::Values;

/// Adds the built-in derived values; what the data says itself stays.
pub fn derive(values: &mut Values) {
    let enabled = is_enabled(values);
    values.insert("infrastructure_enabled".to_owned(), enabled.into());
    if let Some(gateway) = gateway(values) {
        default_to(values, "node_default_gateway", gateway.to_string());
    }
    if enabled || is_given(values, "tfstate_password") {
        default_to(values, "tfstate_username", "terraform");
    }
    if enabled {
        default_to(values, "proxmox_iso_storage", "local");
        default_to(values, "proxmox_disk_storage", "local-lvm");
        defaults::merge(values);
        let vms = vms::vms(values);
        default_to(values, "proxmox_isos", vms::isos(&vms));
        default_to(values, "proxmox_vms", vms);
    }
}

/// Returns whether a built-in derived value reads a key of the data.
pub fn reads(key: &str) -> bool {
    const KEYS: &[&str] = &[
        "node_cidr",
        "nodes",
        "proxmox_api_url",
        "proxmox_node",
        "proxmox_vm_advanced",
        "proxmox_vm_controller_defaults",
        "proxmox_vm_defaults",
        "proxmox_vm_worker_defaults",
        "tfstate_password",
    ];
    KEYS.contains(&key)
}

/// Returns whether VMs on Proxmox are asked for.
fn is_enabled(values: &Values) -> bool {
    is_given(values, "proxmox_api_url") && is_given(values, "proxmox_node")
}

/// Returns whether a key says something.
fn is_given(values: &Values, key: &str) -> bool {
    values.get(key).is_some_and(|value| *value != json!("") && !value.is_null())
}

/// Sets a value that is not given; a key without a value is not given.
fn default_to(values: &mut Values, key: &str, value: impl Into<Value>) {
    if values.get(key).is_none_or(Value::is_null) {
        values.insert(key.to_owned(), value.into());
    }
}

/// Returns host 1 of the nodes' network.
fn gateway(values: &Values) -> Option<IpAddr> {
    let network = values.get("node_cidr")?.as_str()?.parse::<IpNet>().ok()?;
    match network {
        IpNet::V4(network) => {
            let host = u32::from(network.network()).checked_add(1)?;
            Some(IpAddr::V4(host.into())).filter(|host| IpNet::V4(network).contains(host))
        }
        IpNet::V6(network) => {
            let host = u128::from(network.network()).checked_add(1)?;
            Some(IpAddr::V6(host.into())).filter(|host| IpNet::V6(network).contains(host))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(values: Value) -> Values {
        let Value::Object(mut values) = values else { return Values::new() };
        derive(&mut values);
        values
    }

    #[test]
    fn without_proxmox_nothing_of_it_is_defined() {
        let values = derived(json!({"proxmox_api_url": "https://pve:8006", "proxmox_node": "", "nodes": []}));

        assert_eq!(values["infrastructure_enabled"], false);
        let proxmox = values.keys().filter(|key| key.starts_with("proxmox_")).collect::<Vec<_>>();
        assert_eq!(proxmox, ["proxmox_api_url", "proxmox_node"]);
    }

    #[test]
    fn the_gateway_is_host_one_unless_it_is_given() {
        let network = |network: &str| derived(json!({"node_cidr": network}));

        assert_eq!(network("192.168.10.0/24")["node_default_gateway"], "192.168.10.1");
        assert_eq!(network("192.168.10.77/24")["node_default_gateway"], "192.168.10.1");
        assert_eq!(network("fd00:1::/64")["node_default_gateway"], "fd00:1::1");
        assert!(!network("192.168.10.7/32").contains_key("node_default_gateway"));
        assert!(!network("nonsense").contains_key("node_default_gateway"));
        let own = derived(json!({"node_cidr": "10.0.0.0/8", "node_default_gateway": "10.0.0.254"}));
        assert_eq!(own["node_default_gateway"], "10.0.0.254");
    }

    #[test]
    fn the_user_of_the_state_server_has_a_default_where_one_is_needed() {
        assert_eq!(derived(json!({"tfstate_password": "x"}))["tfstate_username"], "terraform");
        assert_eq!(
            derived(json!({"tfstate_password": "x", "tfstate_username": "me"}))["tfstate_username"],
            "me"
        );
        assert!(!derived(json!({})).contains_key("tfstate_username"));
    }

    #[test]
    fn storages_have_defaults_and_nodes_stay_as_they_are() {
        let nodes = json!([{"name": "k8s-0", "address": "10.0.0.10"}]);
        let values = derived(json!({
            "proxmox_api_url": "https://pve:8006", "proxmox_node": "pve",
            "proxmox_disk_storage": "zfs", "nodes": nodes,
        }));

        assert_eq!(values["proxmox_iso_storage"], "local");
        assert_eq!(values["proxmox_disk_storage"], "zfs");
        assert_eq!(values["nodes"], nodes);
    }
}
