//! The sensitive values in a state, and how they are kept out of what is shown of it.
//!
//! tofu marks attributes and outputs as sensitive, but providers copy such values into
//! attributes that nothing marks. So a long value is masked wherever it occurs; a short one
//! or a number, which occurs everywhere by chance, only as a whole within its own resource.
//! Begin at [`mask_shown`].

use serde_json::Value;

use super::state_instances::addressed_instances;
use crate::error::Result;
use crate::secrets::redactor::Redactor;

/// Stands for a value that must not be shown.
pub const MASK: &str = "(sensitive)";

/// A text with fewer characters is not looked for inside other values.
const SHORTEST: usize = 4;

/// Returns whether a text is long enough to be no accident inside another one.
pub fn is_telling(text: &str) -> bool {
    text.chars().count() >= SHORTEST && text.parse::<f64>().is_err()
}

/// Adds the texts and numbers in a value; empty ones, truths and nothing tell nothing.
pub fn collect_leaves(value: &Value, into: &mut Vec<String>) {
    match unframed(value) {
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => into.push(text.clone()),
        Value::Number(number) => into.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect_leaves(item, into)),
        Value::Object(map) => map.values().for_each(|item| collect_leaves(item, into)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Returns a value without the frame that values of any type are kept in.
pub fn unframed(value: &Value) -> &Value {
    match value.as_object() {
        Some(map) if map.len() == 2 && map.contains_key("type") => map.get("value").unwrap_or(value),
        _ => value,
    }
}

/// Returns the texts and numbers that the marks of an instance lead to.
pub fn marked_leaves(instance: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for path in instance["sensitive_attributes"].as_array().into_iter().flatten() {
        collect_leaves(follow(&instance["attributes"], path), &mut found);
    }
    found
}

/// Returns what a path leads to, or the part up to which it can be followed.
fn follow<'a>(attributes: &'a Value, path: &Value) -> &'a Value {
    let mut reached = attributes;
    for step in path.as_array().into_iter().flatten() {
        let key = if step["type"] == "index" { &step["value"]["value"] } else { &step["value"] };
        let next = match (key, unframed(reached)) {
            (Value::String(key), inner) => inner.get(key),
            (Value::Number(index), inner) => {
                inner.get(usize::try_from(index.as_u64().unwrap_or(u64::MAX)).unwrap_or(usize::MAX))
            }
            _ => None,
        };
        match next {
            Some(next) => reached = next,
            None => break,
        }
    }
    reached
}

/// Masks in tofu's text about one resource what its state marks as sensitive.
pub fn mask_shown(text: &str, state: &[u8], address: &str) -> Result<String> {
    let state: Value = serde_json::from_slice(state).unwrap_or_default();
    let instances = addressed_instances(&state);
    let outputs = state["outputs"].as_object().into_iter().flat_map(|outputs| outputs.values());
    let mut everywhere = Vec::new();
    outputs
        .filter(|output| output["sensitive"] == true)
        .for_each(|output| collect_leaves(&output["value"], &mut everywhere));
    everywhere.extend(instances.iter().flat_map(|(_, instance)| marked_leaves(instance)));
    everywhere.retain(|text| is_telling(text));
    let own = instances.iter().filter(|(own, _)| own == address);
    let own: Vec<String> = own.flat_map(|(_, instance)| marked_leaves(instance)).collect();
    let hidden = Redactor::new(&everywhere)?.line(text).into_owned();
    Ok(hidden.split_inclusive('\n').map(|line| mask_values(line, &own)).collect())
}

/// Masks whole values in a line; the name before the equals sign is none.
fn mask_values(line: &str, secrets: &[String]) -> String {
    if line.trim_start().starts_with('#') || line.trim_end().ends_with('{') {
        return line.to_owned();
    }
    let (name, value) = match line.split_once(" = ") {
        Some((name, value)) => (format!("{name} = "), value),
        None => (String::new(), line),
    };
    let masked = secrets.iter().fold(value.to_owned(), |value, secret| mask_token(&value, secret));
    name + &masked
}

fn mask_token(text: &str, secret: &str) -> String {
    let is_part = |character: Option<char>| {
        character.is_some_and(|character| character.is_alphanumeric() || matches!(character, '_' | '.' | '-'))
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(secret) {
        let (before, after) = (&rest[..at], &rest[at + secret.len()..]);
        let inside = is_part(before.chars().next_back()) || is_part(after.chars().next());
        out.push_str(before);
        out.push_str(if inside { secret } else { MASK });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SHOWN: &str = "# t.n:\nresource \"t\" \"n\" {\n    id     = \"a17\"\n    input  = (sensitive value)\n    \
        output = \"other-secret-99\"\n    copy   = 17\n    list   = [\n        \"abc\",\n    ]\n}\n";

    fn state() -> Vec<u8> {
        let step = |name: &str| json!([{"type": "get_attr", "value": name}]);
        let marks = json!([step("input"), step("port"), [
            {"type": "get_attr", "value": "map"}, {"type": "index", "value": {"type": "string", "value": "k"}}
        ]]);
        let attributes = json!({"input": {"type": "string", "value": "other-secret-99"}, "port": 17,
            "map": {"k": "abc", "open": "a17"}});
        let instances = json!([{"attributes": attributes, "sensitive_attributes": marks}]);
        json!({"resources": [{"mode": "managed", "type": "t", "name": "n", "instances": instances}]})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_copy_of_a_sensitive_value_is_masked_in_the_text_of_its_resource() {
        let masked = mask_shown(SHOWN, &state(), "t.n").expect("a text");

        for secret in ["other-secret-99", "= 17", "\"abc\""] {
            assert!(SHOWN.contains(secret) && !masked.contains(secret), "{secret}: {masked}");
        }
        assert!(masked.contains("id     = \"a17\"") && masked.starts_with("# t.n:\nresource"), "{masked}");
    }

    #[test]
    fn short_values_of_another_resource_are_no_reason_to_hide() {
        let masked = mask_shown(SHOWN, &state(), "t.other").expect("a text");

        assert!(masked.contains("copy   = 17") && !masked.contains("other-secret-99"), "{masked}");
    }
}
