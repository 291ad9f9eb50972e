//! Ways into the attributes of a resource: by name, and by a path with dots.

use serde_json::Value;

/// Returns a value without the frame that values of any type are kept in, as in `terraform_data`.
pub(super) fn unframed(value: &Value) -> &Value {
    match value.as_object() {
        Some(map) if map.len() == 2 && map.get("type").is_some_and(is_type) => {
            map.get("value").unwrap_or(value)
        }
        _ => value,
    }
}

/// Returns whether a value names a type of tofu, as the frame does.
fn is_type(value: &Value) -> bool {
    let names = ["string", "number", "bool", "dynamic", "object", "map", "list", "set", "tuple"];
    let name = value.as_array().map_or(value, |list| list.first().unwrap_or(value));
    name.as_str().is_some_and(|name| names.contains(&name))
}

/// Returns everything that a path with dots leads to: `network.0.ip`, or `network.ip` for all of them.
///
/// The name of a tag may have dots itself, so several steps together may be one name.
pub(super) fn at_path<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    let steps: Vec<&str> = path.split('.').collect();
    follow(value, &steps)
}

fn follow<'a>(value: &'a Value, steps: &[&str]) -> Vec<&'a Value> {
    let value = unframed(value);
    let Some((first, rest)) = steps.split_first() else { return vec![value] };
    match value {
        Value::Array(list) => match first.parse::<usize>() {
            Ok(index) => list.get(index).map(|item| follow(item, rest)).unwrap_or_default(),
            Err(_) => list.iter().flat_map(|item| follow(item, steps)).collect(),
        },
        Value::Object(map) => {
            let named =
                |length: usize| Some((map.get(&steps.get(..length)?.join("."))?, steps.get(length..)?));
            let found = (1..=steps.len()).filter_map(named);
            found.map(|(item, rest)| follow(item, rest)).find(|found| !found.is_empty()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// Returns the texts that a path leads to; numbers count, what is empty does not.
pub(super) fn texts_at(value: &Value, path: &str) -> Vec<String> {
    at_path(value, path).into_iter().flat_map(texts_of).collect()
}

/// Returns the first text that a path leads to.
pub(super) fn text_at(value: &Value, path: &str) -> Option<String> {
    texts_at(value, path).into_iter().next()
}

/// Returns the texts in a value: itself, or the items of a list.
pub(super) fn texts_of(value: &Value) -> Vec<String> {
    match unframed(value) {
        Value::String(text) if !text.trim().is_empty() => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(list) => list.iter().flat_map(texts_of).collect(),
        _ => Vec::new(),
    }
}

/// Returns the pairs of a map of texts; truths and numbers count as texts.
pub(super) fn pairs_of(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| match unframed(value) {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let pairs = unframed(value).as_object().into_iter().flatten();
    pairs.filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_goes_through_lists_frames_and_names_with_dots() {
        let value = json!({"a": [{"b": "x"}, {"b": "y"}], "labels": {"app.io/name": "web"},
            "input": {"value": {"name": "n", "port": 22}, "type": ["object", {"name": "string"}]}});

        assert_eq!(texts_at(&value, "a.1.b"), ["y"]);
        assert_eq!(texts_at(&value, "a.b"), ["x", "y"]);
        assert_eq!(texts_at(&value, "labels.app.io/name"), ["web"]);
        assert_eq!(texts_at(&value, "input.name"), ["n"]);
        assert_eq!(texts_at(&value, "input.port"), ["22"]);
        for nowhere in ["", "a.2.b", "a.b.c", "input.type", "labels.app", "a.99999999999999999999999.b"] {
            assert_eq!(texts_at(&value, nowhere), [""; 0], "{nowhere}");
        }
    }
}
