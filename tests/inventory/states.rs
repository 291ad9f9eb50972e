//! Raw states as tofu writes them, put where a stack without a backend block keeps its own.

use serde_json::{Value, json};

use crate::support::Project;

/// A stack whose provider nobody can get: an inventory needs none.
pub const NO_PROVIDER: &str = r#"
terraform {
  required_providers {
    proxmox = { source = "bpg/proxmox", version = "99.99.99" }
  }
}

resource "proxmox_virtual_environment_vm" "vm" {
  node_name = "pve1"
}
"#;

/// Returns a state with these resources.
pub fn state(resources: &[Value]) -> Value {
    json!({"version": 4, "terraform_version": "1.12.6", "serial": 7, "lineage": "6f0c1b9e-0000-4000-8000-000000000001",
        "outputs": {}, "resources": resources, "check_results": null})
}

/// Returns a resource with one instance for each of these attributes.
pub fn resource(kind: &str, attributes: &[Value]) -> Value {
    let instance = |attributes: &Value| json!({"schema_version": 0, "attributes": attributes, "sensitive_attributes": []});
    of_instances(kind, &attributes.iter().map(instance).collect::<Vec<_>>())
}

/// Returns a resource with these instances.
pub fn of_instances(kind: &str, instances: &[Value]) -> Value {
    json!({"mode": "managed", "type": kind, "name": "this",
        "provider": "provider[\"registry.opentofu.org/x/y\"]", "instances": instances})
}

/// Returns a project in which each of these stacks has a state with these resources.
pub fn project_of(stacks: &[(&str, &[Value])]) -> Project {
    let project = Project::new();
    for (id, resources) in stacks {
        add(&project, id, resources);
    }
    project
}

/// Adds a stack with a state of these resources.
pub fn add(project: &Project, id: &str, resources: &[Value]) {
    project.write(&format!("infrastructure/{id}/main.tf"), NO_PROVIDER);
    project.write(&format!("infrastructure/{id}/terraform.tfstate"), &state(resources).to_string());
}

/// A machine of Amazon with this name and a private address.
pub fn aws(name: &str, last: usize) -> Value {
    json!({"id": format!("i-{last}"), "public_ip": "", "private_ip": format!("10.1.{}.{}", last / 250, last % 250 + 1),
        "tags": {"Name": name}, "tags_all": {"Name": name}})
}
