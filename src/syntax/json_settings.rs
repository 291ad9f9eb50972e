//! What values of the JSON form say, as far as it can be known without running it. A block is an
//! object, or a list of them. Begin at [`settings`].

use super::json::{JsonEntry, JsonNode};
use super::setting::{Setting, Settings};

/// Returns the entries of an object, or of every object in a list; comments are left out.
pub fn entries(value: &JsonNode) -> Vec<&JsonEntry> {
    match value {
        JsonNode::Object(found) => found.iter().filter(|entry| entry.name != "//").collect(),
        JsonNode::List(list) => list.iter().flat_map(entries).collect(),
        JsonNode::Null | JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::Text(_) | JsonNode::Deep => {
            Vec::new()
        }
    }
}

/// Returns the values of an object by name; `null` is none.
pub fn settings(value: &JsonNode) -> Settings {
    let read = |entry: &JsonEntry| Some((entry.name.clone(), setting(&entry.value)?));
    entries(value).into_iter().filter_map(read).collect()
}

/// Returns a value as it can be known; `null` is none.
pub fn setting(value: &JsonNode) -> Option<Setting> {
    Some(match value {
        JsonNode::Null => return None,
        JsonNode::Bool(value) => Setting::Literal(value.to_string()),
        JsonNode::Number(text) => Setting::Literal(text.clone()),
        JsonNode::Text(text) if text.contains("${") || text.contains("%{") => {
            Setting::Expression(format!("\"{text}\""))
        }
        JsonNode::Text(text) => Setting::Literal(text.clone()),
        JsonNode::Object(_) => Setting::Map(settings(value)),
        // A nested block may be written as a list of one.
        JsonNode::List(list) => match list.as_slice() {
            [only @ JsonNode::Object(_)] => Setting::Map(settings(only)),
            _ => Setting::Expression(list_text(list)),
        },
        JsonNode::Deep => Setting::Expression("…".to_owned()),
    })
}

fn list_text(list: &[JsonNode]) -> String {
    let items = list.iter().map(|item| setting(item).map_or("null".to_owned(), |item| item.to_string()));
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
