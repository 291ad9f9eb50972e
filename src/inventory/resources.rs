//! The resources in a state that are there now: each instance with its address and what may be seen of it.

use serde_json::Value;

use super::confidential::{Cut, cut};

/// One instance of a managed resource.
#[derive(Debug)]
pub(super) struct Resource {
    /// The address, as tofu writes it.
    pub address: String,
    /// The type, such as `aws_instance`.
    pub kind: String,
    /// Its attributes without what is sensitive.
    pub attributes: Value,
    /// What was cut out of them.
    pub secrets: Vec<String>,
}

/// Returns the instances in a state; data sources and what only waits to be removed are none.
pub(super) fn resources_in(state: &Value) -> Vec<Resource> {
    let managed = items(&state["resources"]).filter(|resource| resource["mode"] == "managed");
    managed.flat_map(|resource| instances_of(resource).collect::<Vec<_>>()).collect()
}

fn instances_of(resource: &Value) -> impl Iterator<Item = Resource> + '_ {
    // An object that was replaced and could not be destroyed yet is not the machine any more.
    let current = items(&resource["instances"]).filter(|instance| instance["deposed"].is_null());
    current.map(|instance| {
        let Cut { attributes, secrets } = cut(instance);
        let kind = text(resource, "type").to_owned();
        Resource { address: address(resource, instance), kind, attributes, secrets }
    })
}

/// Returns the address as tofu writes it.
fn address(resource: &Value, instance: &Value) -> String {
    let module = match text(resource, "module") {
        "" => String::new(),
        module => format!("{module}."),
    };
    let key = match &instance["index_key"] {
        Value::Null => String::new(),
        key => format!("[{key}]"),
    };
    format!("{module}{}.{}{key}", text(resource, "type"), text(resource, "name"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn instances_have_the_addresses_that_tofu_gives_them() {
        let instances = json!([{"index_key": "a\"b", "attributes": {}}, {"index_key": 0, "attributes": {}},
            {"deposed": "00000001", "attributes": {}}, {"status": "tainted", "attributes": {}}]);
        let state = json!({"resources": [
            {"mode": "managed", "module": "module.m[0]", "type": "t", "name": "n", "instances": instances},
            {"mode": "data", "type": "t", "name": "n", "instances": [{"attributes": {}}]},
            "nonsense"]});

        let found = resources_in(&state);

        let addresses: Vec<&str> = found.iter().map(|resource| resource.address.as_str()).collect();
        assert_eq!(addresses, ["module.m[0].t.n[\"a\\\"b\"]", "module.m[0].t.n[0]", "module.m[0].t.n"]);
    }
}
