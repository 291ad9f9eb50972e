//! What Ansible expects of an inventory script.

use serde_json::{Map, Value, json};

use crate::inventory::Inventory;

/// Returns what `--list` prints: the groups, and under `_meta` the variables of all hosts, so that Ansible
/// does not call once more for each.
pub fn script(inventory: &Inventory) -> Value {
    let groups = inventory.groups().into_iter().map(|(group, hosts)| {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        (group.to_owned(), json!({ "hosts": names }))
    });
    let mut all: Map<String, Value> = groups.collect();
    let variables = inventory.hosts.iter().map(|host| (host.name.clone(), json!(host.variables)));
    all.insert("_meta".to_owned(), json!({ "hostvars": Map::from_iter(variables) }));
    Value::Object(all)
}
