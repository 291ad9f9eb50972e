//! What `cluster.yaml` and `nodes.yaml` promise, checked: every mistake at once, with its place.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the product's rules, not the tests'"
)]

use infra::error::{Error, Exit};
use infra::project::{Data, DataFile, DataWarning, OddKey, load_data};

const CLUSTER: &str = r#"node_cidr: 192.168.10.0/24
talos_version: "1.12.0"
proxmox_api_url: https://pve.example.com:8006/api2/json
proxmox_node: pve
proxmox_api_token_id: root@pam!infra
proxmox_api_token_secret: 5e3f9c1e-canary
"#;

const SCHEMATIC: &str = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";

fn node(name: &str, address: &str, mac: &str) -> String {
    format!("  - name: {name}\n    address: {address}\n    mac_addr: {mac}\n    schematic_id: {SCHEMATIC}\n")
}

fn two_nodes() -> String {
    let first = node("k8s-0", "192.168.10.10", "bc:24:11:00:00:01");
    format!("nodes:\n{first}{}", node("k8s-1", "192.168.10.11", "bc:24:11:00:00:02"))
}

fn check(cluster: &str, nodes: &str) -> Result<Vec<DataWarning>, Error> {
    load(cluster, nodes)?.check()
}

fn load(cluster: &str, nodes: &str) -> Result<Data, Error> {
    let root = tempfile::tempdir().expect("a temp folder");
    std::fs::write(root.path().join("cluster.yaml"), cluster).expect("a file");
    std::fs::write(root.path().join("nodes.yaml"), nodes).expect("a file");
    let files = [DataFile::required("cluster.yaml"), DataFile::required("nodes.yaml")];
    load_data(root.path(), &files)
}

/// Returns the warnings about an otherwise good cluster with these lines.
fn warned_cluster(lines: &str) -> String {
    told(&check(&format!("{CLUSTER}{lines}"), &two_nodes()).expect("no mistake"))
}

/// Returns the warnings about a third node with these lines.
fn warned_node(lines: &str) -> String {
    let node = node("k8s-2", "192.168.10.12", "bc:24:11:00:00:03");
    told(&check(CLUSTER, &format!("{}{node}    {lines}\n", two_nodes())).expect("no mistake"))
}

fn told(warnings: &[DataWarning]) -> String {
    warnings.iter().map(|warning| format!("{warning}\n")).collect()
}

/// Returns the odd keys, each with its place and what is meant.
fn odd_keys(cluster: &str, nodes: &str) -> Vec<String> {
    let odd = load(cluster, nodes).expect("readable data").odd_keys();
    let told =
        |odd: &OddKey| format!("{} {} -> {} +{}", odd.place, odd.path, odd.meant.join("|"), odd.others);
    odd.iter().map(told).collect()
}

fn refused(cluster: &str, nodes: &str) -> String {
    let error = check(cluster, nodes).expect_err("a mistake");
    assert_eq!(error.exit(), Exit(65), "{error}");
    error.to_string()
}

/// Returns the mistake in an otherwise good cluster with these lines.
fn refused_cluster(lines: &str) -> String {
    refused(&format!("{CLUSTER}{lines}"), &two_nodes())
}

/// Returns the mistake in a third node with these lines.
fn refused_node(lines: &str) -> String {
    let node = node("k8s-2", "192.168.10.12", "bc:24:11:00:00:03");
    refused(CLUSTER, &format!("{}{node}    {lines}\n", two_nodes()))
}

#[test]
fn a_name_that_is_refused_is_never_proposed() {
    for name in ["global", "Global", " worker "] {
        let nodes = node(&format!("'{name}'"), "192.168.10.10", "bc:24:11:00:00:01");

        let text = refused(CLUSTER, &format!("nodes:\n{nodes}"));

        assert!(text.contains("other than `global`") && !text.contains("did you mean"), "{text}");
    }
}

#[test]
fn good_data_passes_without_a_warning() {
    assert_eq!(check(CLUSTER, &two_nodes()).unwrap(), []);
    assert_eq!(check("", "").unwrap(), []);
    assert_eq!(check("node_vlan_tag: 10\nproxmox_api_url:\n", "nodes: []\n").unwrap(), []);
}

#[test]
fn one_mistake_names_place_key_expected_and_found() {
    let error = refused_cluster("proxmox_vm_defaults:\n  cores: 100\n");

    assert_eq!(
        error,
        "`proxmox_vm_defaults.cores` must be a whole number from 1 to 64\n  at cluster.yaml:8:10\n  found  `100`"
    );
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_files() {
    let nodes = two_nodes().replace("192.168.10.11", "192.168.11.5").replace("00:00:01", "00:00:0A");
    let error =
        refused(&format!("{CLUSTER}proxmox_vm_advanced: {{bios: ovfm}}\nnode_vlan_tag: 5000\n"), &nodes);

    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "4 mistakes in the data");
    assert_eq!(
        lines[1],
        "  cluster.yaml:7:29  `proxmox_vm_advanced.bios` must be one of `ovmf`, `seabios`, found `ovfm`; did you mean `ovmf`?"
    );
    assert!(
        lines[2].starts_with("  cluster.yaml:8:16  `node_vlan_tag` must be a VLAN from 1 to 4094"),
        "{error}"
    );
    assert!(lines[3].ends_with("found `bc:24:11:00:00:0A`; did you mean `bc:24:11:00:00:0a`?"), "{error}");
    assert!(lines[4].contains("`nodes[1].address` must be inside `node_cidr`, 192.168.10.0/24"), "{error}");
    assert_eq!(lines.len(), 5);
}

#[test]
fn numbers_keep_their_ranges() {
    for (key, bad, good) in [
        ("cores", [0, 65], [1, 64]),
        ("sockets", [0, 5], [1, 4]),
        ("memory", [1023, 262_145], [1024, 262_144]),
        ("disk_size", [31, 4097], [32, 4096]),
    ] {
        for map in ["proxmox_vm_defaults", "proxmox_vm_controller_defaults", "proxmox_vm_worker_defaults"] {
            for value in bad {
                let error = refused_cluster(&format!("{map}: {{{key}: {value}}}\n"));
                assert!(error.starts_with(&format!("`{map}.{key}` must be a whole number from")), "{error}");
            }
            for value in good {
                check(&format!("{CLUSTER}{map}: {{{key}: {value}}}\n"), &two_nodes()).unwrap();
            }
        }
        let error = refused_node(&format!("vm_{key}: {}", bad[0]));
        assert!(error.starts_with(&format!("`nodes[2].vm_{key}` must be")), "{error}");
    }
}

#[test]
fn values_of_the_cluster_have_their_forms() {
    for (line, expected) in [
        (
            "proxmox_vm_advanced: {machine: pc}",
            "`proxmox_vm_advanced.machine` must be one of `q35`, `i440fx`",
        ),
        (
            "proxmox_vm_advanced: {net_queues: 17}",
            "`proxmox_vm_advanced.net_queues` must be a whole number from 1 to 16",
        ),
        ("proxmox_vm_advanced: {numa: yes}", "`proxmox_vm_advanced.numa` must be `true` or `false`"),
        ("proxmox_vm_advanced: {tags: [1]}", "`proxmox_vm_advanced.tags[0]` must be a text"),
        (
            "proxmox_vm_advanced: {balloon: -1}",
            "`proxmox_vm_advanced.balloon` must be a whole number of at least 0",
        ),
        ("node_vlan_tag: 4095", "`node_vlan_tag` must be a VLAN from 1 to 4094"),
        ("node_vlan_tag: \"\"", "`node_vlan_tag` must be a VLAN from 1 to 4094"),
        ("proxmox_vm_advanced: [1]", "`proxmox_vm_advanced` must be a map"),
        ("proxmox_vm_defaults: {cores: \"4\"}", "`proxmox_vm_defaults.cores` must be a whole number"),
        ("proxmox_vm_defaults: {cores: 4.5}", "`proxmox_vm_defaults.cores` must be a whole number"),
        ("proxmox_iso_storage: \"\"", "`proxmox_iso_storage` must be a text that is not empty"),
        ("node_default_gateway: 192.168.10.256", "`node_default_gateway` must be an IP address"),
        ("node_dns_servers: [1.1.1.1, one]", "`node_dns_servers[1]` must be an IP address"),
        ("node_dns_servers: [~]", "`node_dns_servers[0]` must be an IP address"),
        ("cluster_pod_cidr: 10.42.0.0", "`cluster_pod_cidr` must be a network"),
        ("cluster_svc_cidr: fd00::/129", "`cluster_svc_cidr` must be a network"),
        ("cluster_api_addr: fd00:::1", "`cluster_api_addr` must be an IP address"),
        ("kubernetes_version: 1.35", "`kubernetes_version` must be a version"),
    ] {
        let error = refused_cluster(&format!("{line}\n"));
        assert!(error.starts_with(expected), "{line}: {error}");
        assert!(error.contains("at cluster.yaml:7:"), "{line}: {error}");
    }
}

#[test]
fn values_of_a_node_have_their_forms() {
    for (line, expected) in [
        ("mtu: 1449", "`nodes[2].mtu` must be a whole number from 1450 to 9000"),
        ("vm_id: 99", "`nodes[2].vm_id` must be a whole number from 100"),
        ("vm_startup_order: 0", "`nodes[2].vm_startup_order` must be a whole number from 1 to 100"),
        ("vm_startup_delay: 301", "`nodes[2].vm_startup_delay` must be a whole number from 0 to 300"),
        ("controller: \"true\"", "`nodes[2].controller` must be `true` or `false`"),
        ("mtu: \"1500\"", "`nodes[2].mtu` must be a whole number from 1450 to 9000"),
        ("vm_shutdown_delay: 601", "`nodes[2].vm_shutdown_delay` must be a whole number from 0 to 600"),
        ("disk: 1", "`nodes[2].disk` must be a text"),
    ] {
        let error = refused_node(line);
        assert!(error.starts_with(expected), "{line}: {error}");
        assert!(error.contains("at nodes.yaml:14:"), "{line}: {error}");
    }
}

#[test]
fn names_macs_and_schematics_of_nodes_have_their_forms() {
    for (from, to, expected) in [
        ("k8s-1", "worker", "`nodes[1].name` must be a host name"),
        ("k8s-1", "K8s-1", "`nodes[1].name` must be a host name"),
        ("k8s-1", "k8s-", "`nodes[1].name` must be a host name"),
        ("bc:24:11:00:00:02", "bc-24-11-00-00-02", "`nodes[1].mac_addr` must be a MAC address in lower case"),
        ("bc:24:11:00:00:02", "BC:24:11:00:00:02", "`nodes[1].mac_addr` must be a MAC address in lower case"),
        ("bc:24:11:00:00:02", "bc:24:11:00:00", "`nodes[1].mac_addr` must be a MAC address in lower case"),
        ("192.168.10.11", "192.168.10", "`nodes[1].address` must be an IP address"),
    ] {
        let error = refused(CLUSTER, &two_nodes().replace(from, to));
        assert!(error.starts_with(expected), "{to}: {error}");
    }
    let short = refused(CLUSTER, &two_nodes().replace(SCHEMATIC, &SCHEMATIC[1..]));
    assert!(short.contains("`nodes[0].schematic_id` must be 64 lower-case letters and digits"), "{short}");
}

#[test]
fn no_two_nodes_share_name_address_mac_or_number() {
    for (from, to, key) in [
        ("k8s-1", "k8s-0", "name"),
        ("192.168.10.11", "192.168.10.10", "address"),
        ("00:00:02", "00:00:01", "mac_addr"),
    ] {
        let error = refused(CLUSTER, &two_nodes().replace(from, to));
        let text = format!("`nodes[1].{key}` must be unique, `nodes[0]` has it already\n  at nodes.yaml:");
        assert!(error.starts_with(&text), "{error}");
    }
    let numbered = two_nodes().replace("    mac_addr", "    vm_id: 101\n    mac_addr");
    let warned = told(&check(CLUSTER, &numbered).unwrap());
    assert_eq!(warned, "nodes.yaml:9:12: `nodes[1].vm_id` should be unique, `nodes[0]` has `101` already\n");
}

#[test]
fn what_the_schema_of_the_cluster_template_accepts_is_a_warning_at_most() {
    for (line, expected) in [
        ("node_vlan_tag: guests", "`node_vlan_tag` should be a VLAN from 1 to 4094, found `guests`"),
        ("node_vlan_tag: \"5000\"", "`node_vlan_tag` should be a VLAN from 1 to 4094, found `5000`"),
        (
            "kubernetes_version: 1.035.0",
            "`kubernetes_version` should be a version whose numbers do not begin",
        ),
        (
            "proxmox_vm_advanced: {balloon: 300000}",
            "`proxmox_vm_advanced.balloon` should be at most 262144 MiB",
        ),
        (
            "proxmox_vm_advanced: {tags: [Linux]}",
            "`proxmox_vm_advanced.tags[0]` should be a tag of lower-case letters, digits and `_+.-`, found `Linux`; did you mean `linux`?",
        ),
        ("proxmox_vm_advanced: {tags: [\"\"]}", "`proxmox_vm_advanced.tags[0]` should be a tag"),
        ("proxmox_vm_advanced: {tags: [a, a]}", "`proxmox_vm_advanced.tags[1]` is in the list already: `a`"),
    ] {
        let warned = warned_cluster(&format!("{line}\n"));
        assert!(warned.starts_with("cluster.yaml:7:") && warned.contains(expected), "{line}: {warned}");
        assert_eq!(warned.lines().count(), 1, "{warned}");
    }
    for (line, expected) in [
        ("mtu: 1500.5", "`nodes[2].mtu` should be a whole number, found `1500.5`"),
        ("disk: \"\"", "`nodes[2].disk` should be a text that is not empty"),
        ("kernel_modules: [nvidia, \"\"]", "`nodes[2].kernel_modules[1]` should be a text that is not empty"),
        ("vm_tags: [GPU]", "`nodes[2].vm_tags[0]` should be a tag"),
    ] {
        let warned = warned_node(line);
        assert!(warned.starts_with("nodes.yaml:14:") && warned.contains(expected), "{line}: {warned}");
    }
    assert_eq!(warned_node("vm_shutdown_delay: 600"), "");
    for mac in ["00:00:00:00:00:00", "bd:24:11:00:00:02", "ff:ff:ff:ff:ff:ff"] {
        let warned = told(&check(CLUSTER, &two_nodes().replace("bc:24:11:00:00:02", mac)).unwrap());
        let text =
            "nodes.yaml:8:15: `nodes[1].mac_addr` should be the MAC address of a single machine such as";
        assert!(warned.starts_with(text) && warned.contains(mac), "{warned}");
    }
    let url = CLUSTER.replace("https://pve.example.com:8006/api2/json", "https://");
    assert!(
        told(&check(&url, &two_nodes()).unwrap()).contains("`proxmox_api_url` should be a URL with a host")
    );
}

/// The data with which the workflow of the first seed's repository renders its templates.
#[test]
fn the_test_data_of_the_cluster_template_passes() {
    let cluster = "node_cidr: \"10.10.10.0/24\"\nnode_default_gateway: \"10.10.10.1\"\nnode_vlan_tag: \"100\"\ncluster_pod_cidr: \"10.42.0.0/16\"\ncluster_svc_cidr: \"10.43.0.0/16\"\nnode_dns_servers: [\"1.1.1.1\"]\nnode_ntp_servers: [\"162.159.200.123\"]\ncluster_api_addr: \"10.10.10.254\"\ncluster_gateway_addr: \"10.10.10.252\"\ncluster_dns_gateway_addr: \"10.10.10.253\"\ncloudflare_gateway_addr: \"10.10.10.251\"\ntalos_version: \"1.12.0\"\nkubernetes_version: \"1.35.0\"\n";
    let mac = "mac_addr: 00:00:00:00:00:0";
    let node = |number: u8| {
        format!(
            "  - name: k8s-{number}\n    address: 10.10.10.10{number}\n    controller: false\n    disk: /dev/sdfake\n    {mac}{number}\n    schematic_id: \"{SCHEMATIC}\"\n"
        )
    };
    let extra = "    mtu: 1500\n    secureboot: true\n    encrypt_disk: true\n    vm_id: 200\n    kernel_modules:\n      - nvidia\n";

    let warnings = check(cluster, &format!("nodes:\n{}{}{extra}", node(0), node(1))).unwrap();

    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].to_string().starts_with("nodes.yaml:6:15: `nodes[0].mac_addr` should be"),
        "{warnings:?}"
    );
}

#[test]
fn a_node_without_name_or_address_says_what_is_missing_and_what_may_be_meant() {
    let error = refused("", "nodes:\n  - nane: a\n    adress: 10.0.0.1\n");

    assert!(error.starts_with("2 mistakes in the data\n"), "{error}");
    assert!(
        error.contains("nodes.yaml:2:5  `nodes[0].name` is missing; is `nane` meant to be `name`?"),
        "{error}"
    );
    assert!(error.contains("`nodes[0].address` is missing; is `adress` meant to be `address`?"), "{error}");
    assert!(refused("", "nodes: {a: 1}\n").starts_with("`nodes` must be a list"));
    assert!(refused("", "nodes: [k8s-0]\n").starts_with("`nodes[0]` must be a map"));
}

#[test]
fn proxmox_needs_credentials_a_version_and_images() {
    let cluster: String = CLUSTER
        .lines()
        .filter(|line| !line.contains("oken") && !line.contains("talos"))
        .map(|line| format!("{line}\n"))
        .collect();
    let nodes = two_nodes().replacen(&format!("    schematic_id: {SCHEMATIC}\n"), "", 1);

    let error = refused(&cluster, &nodes);

    assert!(error.starts_with("4 mistakes in the data\n"), "{error}");
    for key in ["proxmox_api_token_id", "proxmox_api_token_secret", "talos_version"] {
        assert!(error.contains(&format!("cluster.yaml:2:1  `{key}` is missing")), "{error}");
    }
    assert!(error.contains("nodes.yaml:2:5  `nodes[0].schematic_id` is missing"), "{error}");
}

#[test]
fn an_empty_credential_is_a_missing_one() {
    let empty = refused(&CLUSTER.replace("5e3f9c1e-canary", "\"\""), &two_nodes());
    let nothing = refused(&CLUSTER.replace("\"1.12.0\"", ""), &two_nodes());

    assert!(empty.starts_with("`proxmox_api_token_secret` must be a text that is not empty"), "{empty}");
    assert!(nothing.starts_with("`talos_version` is missing"), "{nothing}");
    assert!(nothing.contains("at cluster.yaml:2:1"), "{nothing}");
}

#[test]
fn half_of_proxmox_is_a_warning() {
    let warnings = check("proxmox_node: pve\n", "").unwrap();

    assert_eq!(warnings.len(), 1);
    let text = "cluster.yaml:1:1: `proxmox_node` without `proxmox_api_url`: Proxmox is not enabled and no VM is rendered";
    assert_eq!(warnings[0].to_string(), text);
}

#[test]
fn a_usual_slip_of_a_value_is_told_with_the_right_one() {
    let version = refused(&CLUSTER.replace("\"1.12.0\"", "v1.12.0"), &two_nodes());
    let word = refused_cluster("proxmox_insecure: on\n");
    let quoted = refused_cluster("proxmox_vm_defaults: {cores: \"8\"}\n");
    let mac = refused(CLUSTER, &two_nodes().replace("bc:24:11:00:00:02", "BC-24-11-00-00-02"));

    assert!(version.ends_with("hint: did you mean `1.12.0`?"), "{version}");
    assert!(word.ends_with("hint: did you mean `true`?"), "{word}");
    assert!(quoted.ends_with("hint: write the number without quotes"), "{quoted}");
    assert!(mac.ends_with("hint: did you mean `bc:24:11:00:00:02`?"), "{mac}");
}

#[test]
fn a_key_that_is_nearly_a_known_one_is_odd_while_that_is_absent() {
    let absent = odd_keys(&CLUSTER.replace("proxmox_api_url", "proxmox_api_ulr"), &two_nodes());
    let nested = odd_keys(&format!("{CLUSTER}proxmox_vm_defaults: {{memroy: 4096, vm_cores: 4}}\n"), "");
    let present = odd_keys(&format!("{CLUSTER}proxmox_api_ulr: x\n"), &two_nodes());
    let emptied = odd_keys("proxmox_api_url:\nproxmox_api_ulr: x\n", "");

    assert_eq!(absent, ["cluster.yaml:3:1 proxmox_api_ulr -> proxmox_api_url +0"]);
    let memory = "cluster.yaml:7:23 proxmox_vm_defaults.memroy -> memory +0";
    assert_eq!(nested, [memory, "cluster.yaml:7:37 proxmox_vm_defaults.vm_cores -> cores +0"]);
    assert_eq!((present, emptied), (Vec::new(), Vec::new()));
    assert_eq!(check(&CLUSTER.replace("proxmox_api_url", "proxmox_api_ulr"), "").unwrap().len(), 1);
}

#[test]
fn a_key_of_a_node_without_its_prefix_is_odd_and_told_once_for_all_nodes() {
    let sizes = "    memory: 8192\n    cores: 4\n    disk_size: 64\n    tags: [a]\n    id: 100\n";
    let first = node("k8s-0", "192.168.10.10", "bc:24:11:00:00:01").replace("    schematic_id", "    x");
    let second = node("k8s-1", "192.168.10.11", "bc:24:11:00:00:02");
    let third = format!(
        "{}    vm_memory: 1024\n    memory: 1\n",
        node("k8s-2", "192.168.10.12", "bc:24:11:00:00:03")
    );

    let odd = odd_keys("", &format!("nodes:\n{first}{sizes}{second}{sizes}{third}"));

    assert_eq!(
        odd,
        [
            "nodes.yaml:6:5 nodes[0].memory -> vm_memory +1",
            "nodes.yaml:7:5 nodes[0].cores -> vm_cores +1",
            "nodes.yaml:8:5 nodes[0].disk_size -> vm_disk_size +1",
            "nodes.yaml:9:5 nodes[0].tags -> vm_tags +1",
            "nodes.yaml:10:5 nodes[0].id -> schematic_id|vm_id +0",
            "nodes.yaml:19:5 nodes[1].id -> vm_id +0",
        ]
    );
}

#[test]
fn a_missing_credential_names_the_key_that_is_meant_for_it() {
    let slip = refused(&CLUSTER.replace("token_secret", "token_secert"), &two_nodes());
    let other = refused(&CLUSTER.replace("api_token_id", "csi_token_id"), &two_nodes());

    assert!(slip.ends_with("hint: is `proxmox_api_token_secert` meant to be it?"), "{slip}");
    assert!(other.ends_with("hint: add it, or leave `proxmox_api_url` out"), "{other}");
}

#[test]
fn a_project_with_hundreds_of_keys_of_its_own_is_not_refused() {
    let apps =
        ["grafana", "loki", "keycloak", "harbor", "minio", "postgres", "redis", "vault", "unifi", "backup"];
    let parts = [
        "enabled",
        "subdomain",
        "replicas",
        "password",
        "version",
        "storage_class",
        "storage_size",
        "s3_bucket",
        "client_id",
        "client_secret",
        "namespace",
        "retention",
        "node",
        "address",
        "tags",
    ];
    let mut keys: Vec<String> =
        apps.iter().flat_map(|app| parts.iter().map(move |part| format!("{app}_{part}"))).collect();
    let near = [
        "proxmox_csi_token_id",
        "proxmox_csi_token_secret",
        "proxmox_ccm_token_id",
        "proxmox_ccm_token_secret",
        "proxmox_endpoint",
        "proxmox_region",
        "proxmox_csi_storage",
        "proxmox_vlan_mode",
        "cluster_name",
        "cluster_api_tls_sans",
        "cloudflare_domain",
        "cloudflare_token",
        "cilium_bgp_router_addr",
        "cilium_lb_pool_cidr",
        "node_memory_threshold",
        "repository_name",
        "cf_account_id",
        "environment",
    ];
    keys.extend(near.map(str::to_owned));
    let cluster: String = keys.iter().map(|key| format!("{key}: text\n")).collect();

    assert_eq!(check(&cluster, "").unwrap(), []);
    assert_eq!(odd_keys(&cluster, ""), Vec::<String>::new());
}

#[test]
fn a_secret_is_never_shown() {
    let list = refused_cluster("tfstate_password: [hunter2canary]\n");
    let number = refused_cluster("tfstate_password: 31337421\n");
    let token = refused(&CLUSTER.replace("root@pam!infra", "5e3f9c1e-canary"), &two_nodes());
    let slip = refused(&CLUSTER.replace("token_secret", "token_secert"), &two_nodes());

    assert!(list.contains("found  a list") && !list.contains("hunter2canary"), "{list}");
    assert!(number.contains("found  a number") && !number.contains("31337421"), "{number}");
    assert!(!token.contains("canary") && token.contains("`user@realm!name`"), "{token}");
    assert!(slip.contains("proxmox_api_token_secret") && !slip.contains("canary"), "{slip}");
}

#[test]
fn a_mistake_is_told_on_one_line_however_long_its_value_is() {
    let error = refused_cluster(&format!("node_default_gateway: \"a\\n\\e[31m{}\"\n", "x".repeat(500)));

    let found = error.lines().find(|line| line.contains("found")).expect("what was found");
    assert!(found.contains("a\\n\\u{1b}[31m") && found.ends_with("…`"), "{found}");
    assert!(found.chars().count() < 100, "{found}");
}

#[test]
fn thousands_of_mistakes_are_counted_and_not_all_shown() {
    let nodes: String =
        (0..5000).map(|index| format!("  - {{name: n{index}, address: x{index}}}\n")).collect();

    let error = refused("", &format!("nodes:\n{nodes}"));

    assert!(error.starts_with("5000 mistakes in the data\n"), "{}", &error[..200]);
    assert!(error.ends_with("and 4800 more"));
}

#[test]
fn mistakes_in_json_and_toml_have_places_too() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.json"), "{\n  \"node_cidr\": \"x\"\n}").unwrap();
    std::fs::write(root.path().join("b.toml"), "[[nodes]]\nname = \"a\"\naddress = \"10.0.0\"\n").unwrap();

    let data = load_data(root.path(), &[DataFile::required("a.json"), DataFile::required("b.toml")]).unwrap();
    let error = data.check().expect_err("two mistakes").to_string();

    assert!(error.contains("a.json:2:16  `node_cidr` must be a network"), "{error}");
    assert!(error.contains("b.toml:3:11  `nodes[0].address` must be an IP address"), "{error}");
}
