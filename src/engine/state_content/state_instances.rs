//! The instances of resources in a state, each with its address.

use serde_json::Value;

/// Returns every instance of every resource with its address.
pub fn addressed_instances(state: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    for resource in items(&state["resources"]) {
        found.extend(items(&resource["instances"]).map(|instance| (address(resource, instance), instance)));
    }
    found
}

/// Returns the address as tofu writes it.
fn address(resource: &Value, instance: &Value) -> String {
    let text = |name: &str| resource[name].as_str().unwrap_or_default();
    let module = if text("module").is_empty() { String::new() } else { format!("{}.", text("module")) };
    let mode = if text("mode") == "data" { "data." } else { "" };
    let key = match &instance["index_key"] {
        Value::Null => String::new(),
        Value::String(key) => format!("[{key:?}]"),
        key => format!("[{key}]"),
    };
    format!("{module}{mode}{}.{}{key}", text("type"), text("name"))
}

/// Returns the items of a list; what is no list has none.
pub fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
