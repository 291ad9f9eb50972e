//! What VMs get by default: built-in numbers, what the cluster says, what it says of a role.
//!
//! What a person wrote always wins over what is built in, so that `proxmox_vm_defaults` reaches
//! every VM whose role and node say nothing. Begin at [`merge`].

use serde_json::{Map, Value, json};

use crate::model::Values;

/// Replaces the four maps of defaults by complete ones.
pub fn merge(values: &mut Values) {
    let everywhere = map(values, "proxmox_vm_defaults");
    let roles = [
        ("proxmox_vm_controller_defaults", size(4, 8192, 64)),
        ("proxmox_vm_worker_defaults", size(8, 16384, 256)),
    ];
    for (key, built_in) in roles {
        let own = map(values, key);
        values.insert(key.to_owned(), laid_over([built_in, everywhere.clone(), own]));
    }
    values.insert("proxmox_vm_defaults".to_owned(), laid_over([size(4, 8192, 128), everywhere]));
    let own = map(values, "proxmox_vm_advanced");
    values.insert("proxmox_vm_advanced".to_owned(), laid_over([advanced(), own]));
}

/// Returns tags as Proxmox keeps them, lower case, sorted and each once: others never settle.
pub fn tags<'a>(lists: impl IntoIterator<Item = &'a Value>) -> Value {
    let items = lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let mut tags: Vec<String> = items.map(str::to_lowercase).collect();
    tags.sort();
    tags.dedup();
    tags.into()
}

fn size(cores: u32, memory: u32, disk_size: u32) -> Map<String, Value> {
    object(json!({"cores": cores, "sockets": 1, "memory": memory, "disk_size": disk_size}))
}

fn advanced() -> Map<String, Value> {
    object(json!({
        "bios": "ovmf", "machine": "q35", "cpu_type": "host", "scsi_hw": "virtio-scsi-pci",
        "balloon": 0, "numa": true, "qemu_agent": true, "net_queues": 4,
        "disk_discard": true, "disk_ssd": true, "tags": ["kubernetes", "linux", "talos"],
        "network_bridge": "vmbr0", "ostype": "l26", "disk_backup": false, "disk_replicate": false,
    }))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn map(values: &Values, key: &str) -> Map<String, Value> {
    values.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Returns maps laid over each other, the last on top; a key without a value covers nothing.
fn laid_over<const N: usize>(maps: [Map<String, Value>; N]) -> Value {
    let given = maps.into_iter().flatten().filter(|(_, value)| !value.is_null());
    Value::Object(given.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(values: Value) -> Values {
        let mut values = object(values);
        merge(&mut values);
        values
    }

    #[test]
    fn without_a_word_of_the_user_the_built_in_numbers_hold() {
        let values = merged(json!({}));

        let sizes =
            |key: &str| ["cores", "sockets", "memory", "disk_size"].map(|part| values[key][part].clone());
        assert_eq!(sizes("proxmox_vm_defaults"), [4, 1, 8192, 128].map(Value::from));
        assert_eq!(sizes("proxmox_vm_controller_defaults"), [4, 1, 8192, 64].map(Value::from));
        assert_eq!(sizes("proxmox_vm_worker_defaults"), [8, 1, 16384, 256].map(Value::from));
        assert_eq!(values["proxmox_vm_advanced"]["tags"], json!(["kubernetes", "linux", "talos"]));
        assert_eq!(values["proxmox_vm_advanced"]["net_queues"], 4);
    }

    #[test]
    fn what_the_user_says_of_all_vms_reaches_both_roles() {
        let values = merged(json!({"proxmox_vm_defaults": {"cores": 6, "memory": null}}));

        assert_eq!(values["proxmox_vm_controller_defaults"]["cores"], 6);
        assert_eq!(values["proxmox_vm_worker_defaults"]["cores"], 6);
        assert_eq!(values["proxmox_vm_worker_defaults"]["memory"], 16384);
        assert_eq!(values["proxmox_vm_defaults"]["memory"], 8192);
    }

    #[test]
    fn what_the_user_says_of_a_role_wins_over_all_vms() {
        let values = merged(json!({
            "proxmox_vm_defaults": {"cores": 6}, "proxmox_vm_worker_defaults": {"cores": 12},
        }));

        assert_eq!(values["proxmox_vm_controller_defaults"]["cores"], 6);
        assert_eq!(values["proxmox_vm_worker_defaults"]["cores"], 12);
    }

    #[test]
    fn advanced_settings_are_overridden_one_by_one_and_stay_as_written() {
        let values = merged(json!({"proxmox_vm_advanced": {"bios": "seabios", "tags": ["b", "a"]}}));

        let advanced = &values["proxmox_vm_advanced"];
        assert_eq!((&advanced["bios"], &advanced["machine"]), (&json!("seabios"), &json!("q35")));
        assert_eq!(advanced["tags"], json!(["b", "a"]));
    }

    #[test]
    fn tags_settle_as_proxmox_keeps_them() {
        assert_eq!(tags([&json!(["Zeta", "a"]), &json!(null), &json!(["zeta"])]), json!(["a", "zeta"]));
    }
}
