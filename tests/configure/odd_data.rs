//! Data that is odd: a warning with file and line by `configure` and `doctor`, and no more.

use super::removals::{CLUSTER, NODE};
use crate::support::Project;

/// A node with keys that lack their prefix.
fn node_without_prefixes() -> String {
    format!("{NODE}    memory: 8192\n    cores: 4\n    disk_size: 64\n    tags: [a]\n")
}

/// A project whose own template reads nodes as `reads` says.
fn with_template(reads: &str) -> Project {
    let sizes = "#{ proxmox_vm_defaults.memory }# #{ proxmox_vm_advanced.tags | length }#\n";
    Project::new()
        .file("cluster.yaml", CLUSTER)
        .file("nodes.yaml", &node_without_prefixes())
        .file("templates/config/out.txt.j2", &format!("{sizes}#% for n in nodes %#{reads}#% endfor %#\n"))
}

#[test]
fn a_key_without_its_prefix_is_a_warning_unless_a_template_reads_it() {
    let named = [
        "6:5: unknown key `nodes[0].memory`",
        "7:5: unknown key `nodes[0].cores`",
        "`vm_disk_size`?",
        "`vm_tags`?",
    ];

    let ignored = with_template("#{ n.name }#").run("configure --no-init").succeeds();
    let read = with_template("#{ n.memory ~ n['cores'] ~ n.get('disk_size') }#")
        .run("configure --no-init")
        .succeeds();

    for text in named {
        assert!(ignored.stderr.contains(text), "{}", ignored.stderr);
    }
    assert!(ignored.stderr.contains("warning: nodes.yaml:6:5: unknown key `nodes[0].memory` is read by no template; did you mean `vm_memory`?"));
    assert!(
        !["memory", "cores", "disk_size"].iter().any(|key| read.stderr.contains(&format!("nodes[0].{key}`"))),
        "{}",
        read.stderr
    );
    assert!(read.stderr.contains("`nodes[0].tags` is read by no template"), "{}", read.stderr);
}

#[test]
fn the_built_in_templates_read_nothing_of_that_and_doctor_says_so_too() {
    let project = Project::new()
        .file("cluster.yaml", &CLUSTER.replace("talos_version", "node_dns_server: 1.1.1.1\ntalos_version"))
        .file("nodes.yaml", &node_without_prefixes().replace("bc:24:11:00:00:01", "00:00:00:00:00:00"))
        .file("age.key", "");
    project.run("secrets keygen --output other.key").succeeds();
    std::fs::rename(project.path("other.key"), project.path("age.key")).unwrap();

    let run = project.run("configure --no-init").succeeds();
    let doctor = project.run("doctor --json").json();

    let warnings: Vec<&str> = run.stderr.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r"
    cluster.yaml:4:1: unknown key `node_dns_server` is read by no template; did you mean `node_dns_servers`?
    nodes.yaml:4:15: `nodes[0].mac_addr` should be the MAC address of a single machine such as `bc:24:11:00:00:01`, found `00:00:00:00:00:00`
    nodes.yaml:6:5: unknown key `nodes[0].memory` is read by no template; did you mean `vm_memory`?
    nodes.yaml:7:5: unknown key `nodes[0].cores` is read by no template; did you mean `vm_cores`?
    nodes.yaml:8:5: unknown key `nodes[0].disk_size` is read by no template; did you mean `vm_disk_size`?
    nodes.yaml:9:5: unknown key `nodes[0].tags` is read by no template; did you mean `vm_tags`?
    ");
    let found = doctor.as_array().unwrap().iter().filter(|finding| finding["check"] == "data");
    let found: Vec<&str> = found
        .filter(|finding| finding["status"] == "warn")
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    assert_eq!(found, warnings);
}

#[test]
fn a_key_that_nearly_enables_proxmox_is_told_even_where_the_data_is_refused() {
    let project = Project::new()
        .file("cluster.yaml", &CLUSTER.replace("token_secret", "token_secert"))
        .file("nodes.yaml", NODE);

    let run = project.run("configure").exits(65);

    run.stderr_has("cluster.yaml:6:1: unknown key `proxmox_api_token_secert`")
        .stderr_has("hint: is `proxmox_api_token_secert` meant to be it?")
        .stderr_lacks("canary");
}

#[test]
fn doctor_fails_on_data_that_breaks_its_rules() {
    let project = Project::new().file("cluster.yaml", "proxmox_vm_defaults: {cores: 65}\n");

    project
        .run("doctor")
        .exits(1)
        .stdout_has("cluster.yaml:1:30")
        .stdout_has("must be a whole number from 1 to 64");
}
