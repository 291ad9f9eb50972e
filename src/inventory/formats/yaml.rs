//! The inventory as Ansible's YAML.

use super::literal::{Dialect, literal, text_literal};
use crate::inventory::Inventory;

/// Returns the inventory as YAML.
pub fn yaml(inventory: &Inventory) -> String {
    if inventory.hosts.is_empty() {
        return "all: {}\n".to_owned();
    }
    let mut text = "all:\n  hosts:\n".to_owned();
    for host in &inventory.hosts {
        text.push_str(&format!("    {}:\n", text_literal(&host.name)));
        for (name, value) in &host.variables {
            text.push_str(&format!("      {name}: {}\n", literal(value, Dialect::Yaml)));
        }
    }
    text.push_str("  children:\n");
    for (group, hosts) in inventory.groups() {
        text.push_str(&format!("    {group}:\n      hosts:\n"));
        hosts.iter().for_each(|host| text.push_str(&format!("        {}:\n", text_literal(&host.name))));
    }
    text
}
