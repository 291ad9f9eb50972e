//! What the inventory reads of each family of providers, from states shaped after their schemas.

use serde_json::{Value, json};

use super::states::{add, aws, of_instances, project_of, resource};
use super::support::Project;

/// Returns what `--list` prints of states with these resources.
fn listed(resources: &[Value]) -> Value {
    project_of(&[("cloud/x", resources)]).run("inventory --list").succeeds().json()
}

/// Returns the variables of a host.
fn host<'a>(list: &'a Value, name: &str) -> &'a Value {
    list["_meta"]["hostvars"].get(name).unwrap_or_else(|| panic!("no `{name}` in {list:#}"))
}

fn groups_of(list: &Value, name: &str) -> Vec<String> {
    let groups = list.as_object().unwrap().iter();
    let has = |group: &Value| group["hosts"].as_array().is_some_and(|hosts| hosts.contains(&json!(name)));
    let mut found: Vec<String> =
        groups.filter(|(_, group)| has(group)).map(|(group, _)| group.clone()).collect();
    found.sort();
    found
}

#[test]
fn machines_of_every_family_have_name_address_and_groups() {
    let machines = [
        (
            "aws_instance",
            json!({"id": "i-0", "public_ip": "203.0.113.1", "private_ip": "10.0.0.1",
            "tags": {"Name": "web"}, "tags_all": {"Name": "web", "team": "a"}}),
            "web",
            "203.0.113.1",
            "tag_team_a",
        ),
        (
            "aws_instance",
            json!({"id": "i-0a", "public_ip": "", "private_ip": "10.0.0.2", "tags": null, "tags_all": {}}),
            "i-0a",
            "10.0.0.2",
            "stack_cloud_x",
        ),
        (
            "aws_lightsail_instance",
            json!({"name": "ls", "public_ip_address": "203.0.113.3", "username": "ubuntu",
            "private_ip_address": "10.0.0.3", "tags": {"env": "p"}}),
            "ls",
            "203.0.113.3",
            "tag_env_p",
        ),
        (
            "hcloud_server",
            json!({"id": "7", "name": "hz", "ipv4_address": "203.0.113.4", "ipv6_address": "2001:db8::4",
            "network": [{"ip": "10.0.0.4"}], "labels": {"role": "db-1"}, "status": "running"}),
            "hz",
            "203.0.113.4",
            "tag_role_db_1",
        ),
        (
            "hcloud_server",
            json!({"id": "8", "name": "hz6", "ipv4_address": "", "ipv6_address": "2001:db8::5",
            "network": [], "labels": {}}),
            "hz6",
            "2001:db8::5",
            "layer_cloud",
        ),
        (
            "openstack_compute_instance_v2",
            json!({"id": "u", "name": "os", "access_ip_v4": "", "tags": ["blue"],
            "access_ip_v6": "[2001:db8::6]", "network": [{"fixed_ip_v4": "10.0.0.6", "access_network": false},
            {"fixed_ip_v4": "10.9.0.6", "access_network": true}], "metadata": {"k": "v"}}),
            "os",
            "10.9.0.6",
            "tag_blue",
        ),
        (
            "openstack_compute_instance_v2",
            json!({"id": "v", "name": "os2", "access_ip_v4": "203.0.113.7",
            "network": [{"fixed_ip_v4": "10.0.0.7"}], "all_metadata": {"k": "v"}}),
            "os2",
            "203.0.113.7",
            "tag_k_v",
        ),
        (
            "ovh_cloud_project_instance",
            json!({"id": "o", "name": "ovh", "addresses": [
            {"ip": "10.0.0.8", "version": 4}, {"ip": "203.0.113.8", "version": 4}]}),
            "ovh",
            "203.0.113.8",
            "layer_cloud",
        ),
        (
            "scaleway_instance_server",
            json!({"id": "fr-par-1/s", "name": "scw", "tags": ["a", "b"],
            "public_ips": [{"address": "203.0.113.9", "family": "inet"}], "private_ips": [{"address": "10.0.0.9"}]}),
            "scw",
            "203.0.113.9",
            "tag_b",
        ),
        (
            "scaleway_instance_server",
            json!({"id": "fr-par-1/t", "name": "scw2", "tags": [],
            "public_ips": [], "private_ips": [{"address": "10.0.0.10"}]}),
            "scw2",
            "10.0.0.10",
            "layer_cloud",
        ),
        (
            "outscale_vm",
            json!({"vm_id": "i-osc", "public_ip": "203.0.113.11", "private_ip": "10.0.0.11",
            "tags": [{"key": "Name", "value": "osc"}, {"key": "env", "value": "prod"}]}),
            "osc",
            "203.0.113.11",
            "tag_env_prod",
        ),
        (
            "oci_core_instance",
            json!({"id": "ocid1", "display_name": "oracle", "public_ip": "203.0.113.12",
            "private_ip": "10.0.0.12", "freeform_tags": {"env": "prod"}, "defined_tags": {"Ops.Owner": "me"},
            "metadata": {"user_data": "IyEvYmlu"}, "state": "RUNNING"}),
            "oracle",
            "203.0.113.12",
            "tag_Ops_Owner_me",
        ),
        (
            "incus_instance",
            json!({"name": "inc", "ipv4_address": "10.0.0.13", "ipv6_address": "fd00::13",
            "status": "Running", "running": true}),
            "inc",
            "10.0.0.13",
            "layer_cloud",
        ),
        (
            "proxmox_virtual_environment_vm",
            json!({"vm_id": 100, "name": "vm", "tags": ["k8s"], "template": false,
            "ipv4_addresses": [["127.0.0.1"], ["10.0.0.14"]], "ipv6_addresses": [["::1"], ["fe80::14"]],
            "initialization": [{"user_account": [{"username": "debian"}]}]}),
            "vm",
            "10.0.0.14",
            "tag_k8s",
        ),
        (
            "proxmox_virtual_environment_vm",
            json!({"vm_id": 101, "name": "vm2", "tags": null, "ipv4_addresses": [],
            "initialization": [{"ip_config": [{"ipv4": [{"address": "10.0.0.15/24"}]}]}]}),
            "vm2",
            "10.0.0.15",
            "layer_cloud",
        ),
        (
            "proxmox_virtual_environment_container",
            json!({"vm_id": 200, "tags": ["dns"], "ipv4": {"eth0": "10.0.0.16"},
            "initialization": [{"hostname": "ct", "ip_config": [{"ipv4": [{"address": "dhcp"}]}]}]}),
            "ct",
            "10.0.0.16",
            "tag_dns",
        ),
    ];
    let resources: Vec<Value> = machines
        .iter()
        .map(|(kind, attributes, ..)| resource(kind, std::slice::from_ref(attributes)))
        .collect();

    let list = listed(&resources);

    for (kind, _, name, address, group) in &machines {
        assert_eq!(host(&list, name)["ansible_host"], *address, "{kind} {name}");
        assert!(groups_of(&list, name).iter().any(|found| found == group), "{kind} {name}: no {group}");
    }
    assert_eq!(list["_meta"]["hostvars"].as_object().unwrap().len(), machines.len());
    assert_eq!(host(&list, "vm")["ansible_user"], "debian");
    assert_eq!(host(&list, "ls")["ansible_user"], "ubuntu");
}

#[test]
fn an_address_that_another_resource_attaches_belongs_to_the_machine() {
    let list = listed(&[
        resource("aws_instance", &[aws("web", 1)]),
        resource("aws_eip", &[json!({"instance": "i-1", "public_ip": "203.0.113.50"})]),
        resource(
            "hcloud_server",
            &[json!({"id": "9", "name": "hz", "ipv4_address": "", "ipv6_address": ""})],
        ),
        resource("hcloud_server_network", &[json!({"server_id": 9, "ip": "10.0.0.9"})]),
        resource(
            "openstack_compute_instance_v2",
            &[json!({"id": "u", "name": "os", "access_ip_v4": "10.5.0.1",
            "network": [{"port": "p-1", "fixed_ip_v4": "10.5.0.1"}]})],
        ),
        resource(
            "openstack_networking_floatingip_associate_v2",
            &[json!({"port_id": "p-1", "floating_ip": "203.0.113.51"})],
        ),
        resource("outscale_vm", &[json!({"vm_id": "i-o", "private_ip": "10.6.0.1"})]),
        resource("outscale_public_ip_link", &[json!({"vm_id": "i-o", "public_ip": "203.0.113.52"})]),
        resource("scaleway_instance_server", &[json!({"id": "z/s", "name": "scw"})]),
        resource(
            "scaleway_instance_private_nic",
            &[json!({"server_id": "z/s",
            "private_ips": [{"address": "10.7.0.1"}]})],
        ),
    ]);

    let of = |name: &str| host(&list, name)["ansible_host"].as_str().unwrap().to_owned();
    let found = ["web", "hz", "os", "i-o", "scw"].map(of);
    assert_eq!(found, ["203.0.113.50", "10.0.0.9", "203.0.113.51", "203.0.113.52", "10.7.0.1"]);
}

#[test]
fn what_is_no_machine_now_is_no_host() {
    let instance = |name: &str, more: Value| {
        let mut instance = json!({"attributes": aws(name, 1), "sensitive_attributes": []});
        instance.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        instance
    };
    let mut data = resource("aws_instance", &[aws("looked-up", 2)]);
    data["mode"] = "data".into();
    let mut gone = aws("gone", 3);
    gone["instance_state"] = "terminated".into();
    let mut stopped = aws("stopped", 4);
    stopped["instance_state"] = "stopped".into();
    let list = listed(&[
        of_instances(
            "aws_instance",
            &[
                instance("there", json!({"index_key": "a"})),
                instance("old", json!({"index_key": "a", "deposed": "1234abcd"})),
                instance("tainted", json!({"index_key": "b", "status": "tainted"})),
            ],
        ),
        resource("aws_instance", &[gone, stopped]),
        data,
        resource("proxmox_virtual_environment_vm", &[json!({"name": "template", "template": true})]),
        resource("proxmox_virtual_environment_container", &[json!({"vm_id": 5, "template": true})]),
        resource("aws_vpc", &[json!({"id": "vpc-1", "tags": {"Name": "vpc"}})]),
    ]);

    let mut names: Vec<&String> = list["_meta"]["hostvars"].as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["stopped", "tainted", "there"]);
    assert_eq!(host(&list, "stopped")["infra_running"], false);
    assert_eq!(host(&list, "there")["infra_resource"], "aws_instance.this[\"a\"]");
}

#[test]
fn a_machine_without_an_address_is_a_host_without_one() {
    let list = listed(&[resource(
        "proxmox_virtual_environment_vm",
        &[
            json!({"vm_id": 1, "name": "off", "ipv4_addresses": [["127.0.0.1"]], "ipv6_addresses": [["::1"], ["fe80::1"]]}),
        ],
    )]);

    assert_eq!(host(&list, "off").get("ansible_host"), None);
    assert_eq!(groups_of(&list, "off"), ["layer_cloud", "stack_cloud_x"]);
}

#[test]
fn nothing_sensitive_is_told_in_any_form() {
    let marked = json!({
        "attributes": {"id": "i-1", "private_ip": "10.0.0.1", "instance_type": "canary-marked-0001",
            "tags": {"Name": "web", "copy": "x-canary-marked-0001-y"}, "user_data": "canary-data-0002",
            "user_data_base64": "canary-data-0002", "password_data": "canary-pass-0003"},
        "sensitive_attributes": [[{"type": "get_attr", "value": "instance_type"}]]});
    let by_name = [
        resource(
            "openstack_compute_instance_v2",
            &[json!({"id": "u", "name": "os", "admin_pass": "canary-pass-0004",
            "metadata": {"admin_password": "canary-pass-0005", "user-data": "canary-data-0006", "role": "db"},
            "personality": [{"file": "/x", "content": "canary-data-0007"}]})],
        ),
        resource(
            "proxmox_virtual_environment_vm",
            &[json!({"name": "vm", "description": "canary-pass-0008",
            "initialization": [{"user_account": [{"username": "debian", "password": "canary-pass-0008",
            "keys": ["canary-data-0009"]}]}], "tags": ["token=canary-pass-0010", "canary-pass-0008"]})],
        ),
        resource(
            "oci_core_instance",
            &[json!({"display_name": "o", "metadata": {"user_data": "canary-data-0011",
            "ssh_authorized_keys": "canary-data-0012"}, "freeform_tags": {"api_key": "canary-pass-0013"}})],
        ),
        resource(
            "scaleway_instance_server",
            &[json!({"name": "s", "cloud_init": "canary-data-0014",
            "user_data": {"cloud-init": "canary-data-0015"}})],
        ),
        resource(
            "terraform_data",
            &[json!({"id": "t", "input": {"value": {"name": "mapped",
            "user_data": "canary-data-0016"}, "type": ["object", {}]}})],
        ),
    ];
    let mut resources = vec![of_instances("aws_instance", &[marked])];
    resources.extend(by_name);
    let rule = "inventory: { resources: { terraform_data: { name: input.name, tags: input.user_data } } }";
    let project = project_of(&[("cloud/x", &resources)]).config(&format!("name: lab\n{rule}\n"));

    for form in ["", "--list", "--format ini", "--format yaml", "--format ssh", "--host web", "--host mapped"]
    {
        let told = project.run(&format!("inventory {form}")).succeeds();
        assert!(told.stdout.contains("mapped") || !told.stdout.is_empty() || form.contains("ssh"), "{told}");
        assert!(!format!("{}{}", told.stdout, told.stderr).contains("canary"), "{told}");
    }
    let list = project.run("inventory --list").succeeds().json();
    assert_eq!(list["_meta"]["hostvars"].as_object().unwrap().len(), 6);
    assert_eq!(groups_of(&list, "os"), ["layer_cloud", "stack_cloud_x", "tag_role_db"]);
}

#[test]
fn rules_find_the_machines_of_any_other_type() {
    let domain = json!({"id": "d", "name": "kvm", "network_interface": [{"addresses": ["fe80::2", "192.168.122.5"]}],
        "metadata": {"role": "db"}});
    let other = json!({"id": "x-1", "fqdn": "db.example.com", "labels": ["a", "b"]});
    let project = Project::new().config(
        "name: lab\ninventory:\n  resources:\n    libvirt_domain:\n      address: network_interface.0.addresses\n      \
         tags: metadata\n    other_machine: { address: fqdn, tags: labels }\n    aws_instance: { name: private_dns }\n",
    );
    let mut web = aws("web", 1);
    web["private_dns"] = "ip-10-1-0-2.internal".into();
    add(
        &project,
        "cloud/x",
        &[
            resource("libvirt_domain", &[domain]),
            resource("other_machine", &[other]),
            resource("aws_instance", &[web, aws("plain", 2)]),
        ],
    );

    let told = project.run("inventory --list").succeeds();

    let list = told.json();
    assert_eq!(host(&list, "kvm")["ansible_host"], "192.168.122.5");
    assert_eq!(groups_of(&list, "kvm"), ["layer_cloud", "stack_cloud_x", "tag_role_db"]);
    assert_eq!(host(&list, "x-1")["ansible_host"], "db.example.com");
    assert_eq!(groups_of(&list, "x-1"), ["layer_cloud", "stack_cloud_x", "tag_a", "tag_b"]);
    assert_eq!(host(&list, "ip-10-1-0-2.internal")["ansible_host"], "10.1.0.2");
    assert_eq!(host(&list, "plain")["ansible_host"], "10.1.0.3");
    told.stderr_has("`private_dns`, which infra.yaml names for `aws_instance`, leads nowhere");
}
