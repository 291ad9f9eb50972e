//! The built-in templates, rendered with data of many kinds: formatted as tofu formats, every block
//! as the Proxmox provider knows it, every reference leads somewhere, every value arrives intact.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

mod support;

#[path = "templates/evaluated.rs"]
mod evaluated;
#[path = "support/makejinja.rs"]
mod installed;
#[path = "templates/makejinja.rs"]
mod makejinja;
#[path = "templates/references.rs"]
mod references;
#[path = "templates/schema.rs"]
mod schema;
#[path = "templates/tree.rs"]
mod tree;

use std::path::Path;
use std::process::Command;

use evaluated::{evaluate, succeed};
use serde_json::{Value, json};
use support::{Project, tofu};
use tree::{CLUSTERS, Folder, SETS, Tree, age_key};

const STACK: &str = "infrastructure/tofu";
const PLATFORM: &str = "infrastructure/02-platforms/k8s-prod";

#[test]
fn rendered_files_are_formatted_as_tofu_formats() {
    for (_, tree) in Tree::all() {
        let dir = tempfile::tempdir().unwrap();
        tree.write(dir.path());
        let mut command = Command::new(tofu());
        command.args(["fmt", "-check", "-diff", "-recursive", "-no-color"]);

        succeed(&mut command, dir.path());
    }
}

#[test]
fn every_block_and_attribute_is_one_that_the_provider_knows() {
    let schema = schema::proxmox();

    for (name, tree) in Tree::all() {
        let checked: Vec<_> = tree.folders().iter().map(|folder| schema::check(folder, &schema)).collect();

        let faults: Vec<String> = checked.iter().flat_map(|(faults, _)| faults.clone()).collect();
        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
        assert!(checked.iter().map(|(_, seen)| seen).sum::<usize>() > 10, "{name}");
    }
}

#[test]
fn a_block_that_the_provider_does_not_know_is_found() {
    let text = r#"
        resource "proxmox_virtual_environment_vm" "a" {
          naem = "a"
          vm_id = "100"
          ipv4_addresses = []
          cpu { cores = true }
          cpu { cores = 2 }
          dynamic "diks" {
            for_each = []
            content {}
          }
        }
        resource "proxmox_virtual_environment_download_file" "b" {}
    "#;
    let folder = Folder { path: "x".into(), bodies: vec![("x/main.tf".into(), text.parse().unwrap())] };

    let (faults, _) = schema::check(&folder, &schema::proxmox());

    let expected = [
        "a.naem: no such attribute",
        "a.vm_id: number? wanted, string found",
        "a.ipv4_addresses: can only be read",
        "a.cpu.cores: number? wanted, bool found",
        "a.diks: no such block",
        "a.node_name: is required",
        "a.cpu: stands 2 times",
        "b: no such type",
    ];
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.ends_with(expected), "{fault} is not {expected}");
    }
}

#[test]
fn every_reference_leads_to_something_declared() {
    for (name, tree) in Tree::all() {
        let faults = references::check(tree);

        assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
    }
}

#[test]
fn a_reference_that_leads_nowhere_is_found() {
    let mut tree = Tree::render("layered", "minimal");
    let path = format!("{PLATFORM}/main.tf");
    let text = tree.text(&path).replace("var.vm_advanced", "var.advanced").replace("mac_addresses ", "macs ");
    tree.files.insert(path, text.replace("module.machines.mac", "module.machines.cam"));

    let faults = references::check(&tree).join("\n");

    for expected in [
        "`var.advanced` is not declared",
        "`var.vm_advanced` is never used",
        "has no variable `macs`",
        "needs `mac_addresses`",
        "has no output `cam_addresses`",
    ] {
        assert!(faults.contains(expected), "{expected} is not in\n{faults}");
    }
}

#[test]
fn without_proxmox_nothing_is_rendered() {
    for set in SETS {
        let tree = Tree::render(set, "bare_metal");

        assert!(tree.files.is_empty(), "{set}: {:?}", tree.files.keys());
    }
}

#[test]
fn the_layered_set_leaves_out_what_the_data_does_not_ask_for() {
    let minimal = Tree::render("layered", "minimal");
    let full = Tree::render("layered", "full");

    for part in ["03-legacy/standalone", "modules/flux_bootstrap", "modules/proxmox_lxc_container"] {
        let path = format!("infrastructure/{part}/main.tf");
        assert!(!minimal.files.contains_key(&path) && full.files.contains_key(&path), "{path}");
    }
    assert!(!minimal.text(&format!("{PLATFORM}/versions.tf")).contains("helm"));
    assert!(!minimal.text("infrastructure/secrets.sops.yaml").contains("sops_age_key"));
    let secret = age_key().lines().find(|line| line.starts_with("AGE-SECRET-KEY-")).unwrap();
    assert!(full.text("infrastructure/secrets.sops.yaml").contains(secret));
}

#[test]
fn values_arrive_as_they_were_written_whatever_they_hold() {
    let tree = Tree::render("proxmox-talos", "hostile");

    let found = evaluate(&tree, STACK, STACK, &[]);

    assert_eq!(found["var_proxmox_iso_storage"]["value"], "a\"b\\c$${d}%%{e}#{ f }#");
    assert_eq!(
        found["var_proxmox_disk_storage"]["value"],
        "tab\there, line\nthere, return\rhere, 😀 ünd <&'>"
    );
    assert_eq!(
        yaml(tree.text("infrastructure/secrets.sops.yaml")),
        json!({
            "tfstate_username": "terraform",
            "tfstate_password": "yes",
            "proxmox_api_token_id": "o'brien@pve!in\"fra",
            "proxmox_api_token_secret": "p\"w\\n: ${x} #% y %# \n- z: !!int é\t",
            "state_encryption_passphrase": "0123456789012345678901234567890",
        })
    );
}

#[test]
fn hostile_values_arrive_in_every_layer() {
    let tree = Tree::render("layered", "hostile");

    let hosts = "infrastructure/01-hypervisors/pve";
    let legacy = "infrastructure/03-legacy/standalone";
    let hosts = evaluate(&tree, hosts, hosts, &[]);
    let platform = evaluate(&tree, PLATFORM, PLATFORM, &[]);
    let legacy = evaluate(&tree, legacy, legacy, &[]);

    assert_eq!(hosts["var_bridges"]["value"][0]["comment"], "the \"${old}\" one\\");
    assert_eq!(hosts["var_roles"]["value"], json!({"a \"${b}\"": ["${c}"]}));
    assert_eq!(platform["var_cluster_name"]["value"], "k8s \"${path.root}\" %{ if true }");
    assert_eq!(platform["var_flux_repository"]["value"]["url"], "https://git.example.test/a\"b${c}.git");
    assert_eq!(legacy["var_containers"]["value"][0]["description"], "line\n\"two\" ${x} \\");
}

#[test]
fn the_values_of_every_stack_fit_its_variables() {
    for (name, tree) in Tree::all() {
        for folder in tree.folders().iter().filter(|folder| !folder.path.contains("/modules/")) {
            let found = evaluate(tree, &folder.path, &folder.path, &[]);

            assert!(found["var_proxmox_api_url"]["value"].is_string(), "{name}: {}", folder.path);
        }
    }
}

#[test]
fn there_is_an_image_for_each_host_schematic_and_kind_of_boot() {
    let tree = Tree::render("proxmox-talos", "secureboot");

    let found = evaluate(&tree, STACK, STACK, &[]);

    let images = found["local_images"]["value"].as_object().unwrap();
    let kinds: Vec<(&Value, &Value, usize)> = images
        .values()
        .map(|same| (&same[0]["host"], &same[0]["variant"], same.as_array().unwrap().len()))
        .collect();
    let (plain, secure) = (json!("nocloud-amd64"), json!("nocloud-amd64-secureboot"));
    let (pve, pve2) = (json!("pve"), json!("pve2"));
    assert_eq!(kinds, [(&pve, &plain, 1), (&pve, &plain, 1), (&pve, &secure, 2), (&pve2, &plain, 1)]);
    for node in found["local_nodes"]["value"].as_object().unwrap().values() {
        assert!(images.contains_key(node["image"].as_str().unwrap()), "{node}");
    }
}

#[test]
fn a_nodes_machine_configuration_holds_its_network() {
    let tree = Tree::render("layered", "vlan");
    let macs = [("mac_addresses", r#"{"k8s-0":"bc:24:11:00:00:21","k8s-1":"bc:24:11:00:00:22"}"#)];

    let found = evaluate(&tree, "infrastructure/modules/talos_cluster", PLATFORM, &macs);

    let patch = yaml(found["local_patches"]["value"]["k8s-0"].as_str().unwrap());
    assert_eq!(
        patch["machine"]["network"]["interfaces"],
        json!([{
            "addresses": ["192.0.2.21/24"],
            "deviceSelector": {"hardwareAddr": "bc:24:11:00:00:21"},
            "dhcp": false,
            "mtu": 9000,
            "routes": [{"gateway": "192.0.2.1", "network": "0.0.0.0/0"}],
            "vip": {"ip": "192.0.2.20"},
        }])
    );
    assert_eq!(patch["cluster"]["allowSchedulingOnControlPlanes"], true);
}

#[test]
fn a_worker_has_no_shared_address_and_only_the_given_keys() {
    let tree = Tree::render("layered", "full");
    let macs = [("mac_addresses", r#"{"k8s-0":"bc:24:11:00:00:21","k8s-1":"bc:24:11:00:00:22"}"#)];

    let found = evaluate(&tree, "infrastructure/modules/talos_cluster", PLATFORM, &macs);

    let worker = &found["local_interfaces"]["value"]["k8s-1"];
    let keys: Vec<&String> = worker.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["addresses", "deviceSelector", "dhcp", "routes"]);
    assert_eq!(found["local_controllers"]["value"], json!(["192.0.2.21"]));
}

#[test]
fn makejinja_renders_the_same_bytes() {
    for set in SETS {
        for cluster in CLUSTERS.into_iter().chain(["bare_metal"]) {
            let theirs = Tree::render_by_makejinja(set, cluster);

            let ours = Tree::render(set, cluster);

            assert!(ours.files.keys().eq(theirs.files.keys()), "{set}, {cluster}");
            for (path, text) in &ours.files {
                // A decrypted file is written anew, with the same values.
                if path.ends_with("secrets.sops.yaml") {
                    assert_eq!(yaml(text), yaml(theirs.text(path)), "{set}, {cluster}");
                } else {
                    assert_eq!(text, theirs.text(path), "{set}, {cluster}: {path}");
                }
            }
        }
    }
}

#[test]
fn the_example_holds_what_its_data_renders_to() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/proxmox-talos");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    let project = Project::new().file("age.key", age_key());
    for name in ["infra.yaml", "cluster.yaml", "nodes.yaml"] {
        project.write(name, &read(name));
    }

    project.run("configure --no-init").succeeds();

    let mut rendered = Tree::read(&project.path("infrastructure")).files;
    assert!(rendered.remove("secrets.sops.yaml").is_some_and(|text| !text.contains("change-me")));
    assert_eq!(Tree::read(&example.join("infrastructure")).files, rendered);
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}
