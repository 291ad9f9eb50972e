//! Which attributes of resources the configuration in a plan feeds from certain variables.
//!
//! Followed from variables to attributes and into modules, not through locals and other resources.
//! Begin at [`fed_attributes`].

use serde_json::{Map, Value};

/// An attribute of a resource, whatever its instance.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct FedAttribute {
    /// The resource's address without keys.
    pub resource: String,
    /// The attribute, or the block.
    pub name: String,
}

/// Returns the attributes in a plan whose expressions name one of the variables of the root module.
pub(super) fn fed_attributes(plan: &Value, variables: &[&str]) -> Vec<FedAttribute> {
    let mut found = Vec::new();
    collect(&plan["configuration"]["root_module"], "", variables, &mut found);
    found
}

/// Returns an address without the keys of its instances: `a.b["c"]` is `a.b`.
pub(super) fn without_keys(address: &str) -> String {
    let (mut kept, mut rest) = (String::new(), address);
    while let Some((before, key)) = rest.split_once('[') {
        kept.push_str(before);
        rest = match key.strip_prefix('"') {
            Some(quoted) => after_quoted(quoted).trim_start_matches(']'),
            None => key.split_once(']').map_or("", |(_, after)| after),
        };
    }
    kept + rest
}

/// Returns what follows the end of a quoted text.
fn after_quoted(text: &str) -> &str {
    let mut escaped = false;
    let end = text.find(|char: char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    });
    end.map_or("", |end| &text[end + 1..])
}

fn collect(module: &Value, prefix: &str, variables: &[&str], found: &mut Vec<FedAttribute>) {
    for resource in module["resources"].as_array().into_iter().flatten() {
        let address = resource["address"].as_str().unwrap_or_default();
        for name in fed_names(&resource["expressions"], variables) {
            found.push(FedAttribute { resource: format!("{prefix}{address}"), name: name.to_owned() });
        }
    }
    for (name, call) in module["module_calls"].as_object().into_iter().flatten() {
        let variables: Vec<&str> = fed_names(&call["expressions"], variables).collect();
        if !variables.is_empty() {
            collect(&call["module"], &format!("{prefix}module.{name}."), &variables, found);
        }
    }
}

fn fed_names<'a>(expressions: &'a Value, variables: &[&str]) -> impl Iterator<Item = &'a str> {
    let all = expressions.as_object().into_iter().flat_map(Map::iter);
    all.filter(|(_, expression)| names_one(expression, variables)).map(|(name, _)| name.as_str())
}

/// Returns whether an expression, or one in a block, names a variable.
fn names_one(expression: &Value, variables: &[&str]) -> bool {
    let is_one = |reference: &Value| {
        let name = reference.as_str().and_then(|text| text.strip_prefix("var."));
        let name = name.and_then(|name| name.split(['.', '[']).next());
        name.is_some_and(|name| variables.contains(&name))
    };
    match expression {
        Value::Array(items) => items.iter().any(|item| names_one(item, variables)),
        Value::Object(map) => {
            let references = map.get("references").and_then(Value::as_array);
            references.is_some_and(|references| references.iter().any(is_one))
                || map.values().any(|item| names_one(item, variables))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn attributes_are_found_in_blocks_and_modules() {
        let uses = |reference: &str| json!({"references": [reference]});
        let module = json!({"resources": [{"address": "t.inner", "expressions": {"key": uses("var.pw"), "n": uses("var.open")}}]});
        let plan = json!({"configuration": {"root_module": {
            "resources": [{"address": "t.a", "expressions": {
                "block": [{"deep": uses("var.token")}], "input": uses("var.token.part"), "other": uses("var.tokens")
            }}],
            "module_calls": {"m": {"expressions": {"pw": uses("var.token")}, "module": module}},
        }}});

        let found = fed_attributes(&plan, &["token"]);

        let names: Vec<String> = found.iter().map(|one| format!("{}.{}", one.resource, one.name)).collect();
        assert_eq!(names, ["t.a.block", "t.a.input", "module.m.t.inner.key"]);
    }

    #[test]
    fn keys_of_any_kind_are_left_out_of_an_address() {
        assert_eq!(without_keys(r#"module.m["a.\"]b[0]"].t.x[0]"#), "module.m.t.x");
        assert_eq!(without_keys("t.x"), "t.x");
        assert_eq!(without_keys(r#"t.x["open"#), "t.x");
    }
}
