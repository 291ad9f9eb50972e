//! The JSON schemas of the data files: a real validator and our own check say the same.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

#[path = "support/makejinja.rs"]
mod makejinja;

use infra::project::{DataFile, cluster_schema, load_data, nodes_schema};
use serde_json::{Map, Value, json};

/// Checks the schemas themselves, then says of each instance whether it is valid.
const VALIDATE: &str = r#"
import json, sys
from jsonschema import Draft202012Validator

question = json.load(sys.stdin)
for schema in question["schemas"].values():
    Draft202012Validator.check_schema(schema)
validators = {name: Draft202012Validator(schema) for name, schema in question["schemas"].items()}
print(json.dumps([validators[case["schema"]].is_valid(case["instance"]) for case in question["cases"]]))
"#;

const SCHEMATIC: &str = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

fn cluster() -> Map<String, Value> {
    let value = json!({
        "node_cidr": "192.168.10.0/24", "node_default_gateway": "192.168.10.254",
        "node_dns_servers": ["1.1.1.1", "2606:4700:4700::1111"], "node_ntp_servers": ["time.example.com"],
        "node_vlan_tag": "10", "cluster_pod_cidr": "10.42.0.0/16", "cluster_svc_cidr": "fd00:43::/112",
        "cluster_api_addr": "192.168.10.5", "talos_version": "1.12.0", "kubernetes_version": "1.35.0",
        "proxmox_api_url": "https://pve.example.com:8006/api2/json", "proxmox_node": "pve",
        "proxmox_api_token_id": "root@pam!infra", "proxmox_api_token_secret": "x",
        "proxmox_vm_defaults": {"cores": 4, "sockets": null}, "proxmox_vm_worker_defaults": {"disk_size": 4096},
        "proxmox_vm_advanced": {"bios": "seabios", "machine": null, "tags": ["a", "b-c"], "net_queues": 16},
        "tfstate_username": null, "tfstate_password": "y", "own_key": [1, {"a": null}],
    });
    value.as_object().unwrap().clone()
}

fn nodes() -> Value {
    json!({"nodes": [{
        "name": "k8s-0", "address": "192.168.10.10", "controller": true, "disk": "/dev/sda",
        "mac_addr": "bc:24:11:00:00:01", "schematic_id": SCHEMATIC, "mtu": 9000, "vm_id": 100,
        "vm_cores": 64, "vm_startup_order": 100, "vm_startup_delay": 0, "vm_tags": ["gpu"], "own": 1,
    }]})
}

/// Returns wrong values by key, for the cluster.
fn wrong_in_cluster() -> Vec<(&'static str, Value)> {
    vec![
        ("node_cidr", json!("192.168.10.0")),
        ("node_cidr", json!("192.168.10.0/33")),
        ("node_cidr", json!(5)),
        ("node_default_gateway", json!("192.168.10.256")),
        ("node_default_gateway", json!("01.2.3.4")),
        ("node_dns_servers", json!(["one.one"])),
        ("node_dns_servers", json!("1.1.1.1")),
        ("node_ntp_servers", json!([""])),
        ("node_vlan_tag", json!(0)),
        ("node_vlan_tag", json!(4095)),
        ("node_vlan_tag", json!("")),
        ("talos_version", json!("v1.12.0")),
        ("talos_version", json!("1.12")),
        ("talos_version", json!(null)),
        ("proxmox_api_url", json!("pve.example.com")),
        ("proxmox_node", json!("")),
        ("proxmox_api_token_id", json!("root@pam")),
        ("proxmox_api_token_secret", json!("")),
        ("proxmox_api_token_secret", json!(null)),
        ("proxmox_disk_storage", json!("")),
        ("proxmox_insecure", json!("yes")),
        ("proxmox_vm_defaults", json!({"cores": 65})),
        ("proxmox_vm_defaults", json!({"sockets": 0})),
        ("proxmox_vm_controller_defaults", json!({"memory": 1023})),
        ("proxmox_vm_worker_defaults", json!({"disk_size": "64"})),
        ("proxmox_vm_advanced", json!({"bios": "uefi"})),
        ("proxmox_vm_advanced", json!({"machine": "pc"})),
        ("proxmox_vm_advanced", json!({"scsi_hw": "ide"})),
        ("proxmox_vm_advanced", json!({"net_queues": 17})),
        ("proxmox_vm_advanced", json!({"tags": [1]})),
        ("proxmox_vm_advanced", json!({"balloon": -1})),
        ("proxmox_vm_advanced", json!([])),
    ]
}

/// Returns wrong values by key, for a node.
fn wrong_in_node() -> Vec<(&'static str, Value)> {
    vec![
        ("name", json!("global")),
        ("name", json!("K8s")),
        ("name", json!("a".repeat(64))),
        ("name", json!(null)),
        ("address", json!("10.0.0")),
        ("controller", json!(1)),
        ("mac_addr", json!("BC:24:11:00:00:01")),
        ("mac_addr", json!("bc:24:11:00:00")),
        ("disk", json!(1)),
        ("schematic_id", json!("abc")),
        ("mtu", json!(1449)),
        ("mtu", json!(9001)),
        ("vm_id", json!(99)),
        ("vm_cores", json!(0)),
        ("vm_sockets", json!(5)),
        ("vm_memory", json!(262_145)),
        ("vm_disk_size", json!(31)),
        ("vm_startup_order", json!(101)),
        ("vm_startup_delay", json!(301)),
        ("vm_shutdown_delay", json!(601)),
        ("vm_tags", json!([1])),
    ]
}

/// Returns values that the schemas of the cluster template accept and that are odd all the same.
fn odd_values() -> Vec<(&'static str, Value)> {
    let cluster = [
        ("node_vlan_tag", json!("4095")),
        ("node_vlan_tag", json!("ten")),
        ("talos_version", json!("1.012.0")),
        ("proxmox_api_url", json!("https://")),
        ("proxmox_vm_advanced", json!({"tags": ["A", "a", "a", ""], "balloon": 300_000})),
    ];
    let node = [
        ("mac_addr", json!("00:00:00:00:00:00")),
        ("mac_addr", json!("01:24:11:00:00:01")),
        ("disk", json!("")),
        ("mtu", json!(1500.5)),
        ("kernel_modules", json!([""])),
        ("vm_shutdown_delay", json!(600)),
        ("vm_tags", json!(["B", "B"])),
    ];
    cluster.into_iter().chain(node).collect()
}

/// Says what our own check says of an instance.
fn passes(instance: &Value) -> bool {
    let root = tempfile::tempdir().expect("a temp folder");
    std::fs::write(root.path().join("data.json"), instance.to_string()).expect("a file");
    load_data(root.path(), &[DataFile::required("data.json")]).expect("JSON").check().is_ok()
}

/// Says what a real validator says of instances, each by the name of its schema.
fn valid(cases: &[(&str, Value)]) -> Vec<bool> {
    let schemas = json!({"cluster": cluster_schema(), "nodes": nodes_schema()});
    let cases: Vec<Value> =
        cases.iter().map(|(schema, instance)| json!({"schema": schema, "instance": instance})).collect();
    let answers = makejinja::ask(VALIDATE, &json!({"schemas": schemas, "cases": cases}));
    answers.as_array().unwrap().iter().map(|answer| answer.as_bool().unwrap()).collect()
}

#[test]
fn good_data_is_valid_to_the_schema_and_to_the_check() {
    let off = json!({"proxmox_api_url": null, "proxmox_node": "pve", "anything": {"goes": []}});
    let cases =
        [("cluster", Value::Object(cluster())), ("cluster", off), ("cluster", json!({})), ("nodes", nodes())];

    let valid = valid(&cases);

    assert_eq!(valid, [true; 4]);
    assert!(cases.iter().all(|(_, instance)| passes(instance)));
}

#[test]
fn every_wrong_value_is_wrong_to_the_schema_and_to_the_check() {
    let in_cluster = wrong_in_cluster().into_iter().map(|(key, value)| {
        let mut cluster = cluster();
        cluster.insert(key.to_owned(), value);
        ("cluster", Value::Object(cluster))
    });
    let in_node = wrong_in_node().into_iter().map(|(key, value)| {
        let mut nodes = nodes();
        nodes["nodes"][0][key] = value;
        ("nodes", nodes)
    });
    let cases: Vec<(&str, Value)> = in_cluster.chain(in_node).collect();

    let valid = valid(&cases);

    for ((_, instance), valid) in cases.iter().zip(valid) {
        assert!(!valid, "the schema accepts {instance}");
        assert!(!passes(instance), "the check accepts {instance}");
    }
}

#[test]
fn what_is_only_odd_is_valid_to_the_schema_and_to_the_check() {
    let cases: Vec<(&str, Value)> = odd_values()
        .into_iter()
        .map(|(key, value)| {
            if cluster_schema()["properties"].get(key).is_some() {
                let mut cluster = cluster();
                cluster.insert(key.to_owned(), value);
                ("cluster", Value::Object(cluster))
            } else {
                let mut nodes = nodes();
                nodes["nodes"][0][key] = value;
                ("nodes", nodes)
            }
        })
        .collect();

    let valid = valid(&cases);

    for ((_, instance), valid) in cases.iter().zip(valid) {
        assert!(valid && passes(instance), "{instance}");
    }
}

#[test]
fn the_data_of_every_example_is_valid_to_the_schema() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut cases = Vec::new();
    for example in std::fs::read_dir(examples).unwrap().flatten() {
        for schema in ["cluster", "nodes"] {
            let data = load_data(&example.path(), &[DataFile::required(format!("{schema}.yaml"))]).unwrap();
            cases.push((schema, Value::Object(data.values)));
        }
    }

    let valid = valid(&cases);

    assert!(valid.len() >= 6 && valid.iter().all(|valid| *valid), "{cases:?} {valid:?}");
}

#[test]
fn the_schema_knows_what_proxmox_needs() {
    let without = |key: &str| {
        let mut cluster = cluster();
        cluster.remove(key);
        ("cluster", Value::Object(cluster))
    };
    let needed = ["proxmox_api_token_id", "proxmox_api_token_secret", "talos_version"].map(without);
    let not_needed = ["tfstate_password", "proxmox_vm_defaults", "node_cidr"].map(without);

    assert_eq!(valid(&needed), [false; 3]);
    assert_eq!(valid(&not_needed), [true; 3]);
    assert!(needed.iter().all(|(_, instance)| !passes(instance)));
    assert!(not_needed.iter().all(|(_, instance)| passes(instance)));
}

#[test]
fn every_property_is_described_and_stands_in_the_documentation() {
    let page = std::fs::read_to_string(format!("{}/docs/data.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (cluster, nodes) = (cluster_schema(), nodes_schema());
    let maps = [
        &cluster["properties"],
        &cluster["properties"]["proxmox_vm_defaults"]["properties"],
        &cluster["properties"]["proxmox_vm_advanced"]["properties"],
        &nodes["properties"]["nodes"]["items"]["properties"],
    ];

    for map in maps {
        let properties = map.as_object().expect("properties");
        assert!(properties.len() >= 4);
        for (key, schema) in properties {
            assert!(page.contains(&format!("`{key}`")), "`{key}` is not in docs/data.md");
            assert!(schema["description"].as_str().is_some_and(|text| text.ends_with('.')), "{key}");
        }
    }
}

#[test]
fn every_derived_key_stands_in_the_documentation() {
    let page = std::fs::read_to_string(format!("{}/docs/data.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut values = cluster();
    values.extend(nodes().as_object().unwrap().clone());
    values.remove("own_key");
    infra::render::derive(&mut values);

    let vm = values["proxmox_vms"][0].as_object().unwrap();
    let iso = values["proxmox_isos"][0].as_object().unwrap();
    let advanced = values["proxmox_vm_advanced"].as_object().unwrap();
    for key in values.keys().chain(vm.keys()).chain(iso.keys()).chain(advanced.keys()) {
        assert!(page.contains(&format!("`{key}`")), "`{key}` is not in docs/data.md");
    }
}
