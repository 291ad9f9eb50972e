//! What values of the JSON form say, as far as it can be known without running it. A block is an
//! object, or a list of them. Begin at [`settings`].

use super::json::{JsonEntry, Node};
use super::setting::{Setting, Settings};

/// Returns the entries of an object, or of every object in a list; comments are left out.
pub fn entries(value: &Node) -> Vec<&JsonEntry> {
    match value {
        Node::Object(found) => found.iter().filter(|entry| entry.name != "//").collect(),
        Node::List(list) => list.iter().flat_map(entries).collect(),
        Node::Null | Node::Bool(_) | Node::Number(_) | Node::Text(_) | Node::Deep => Vec::new(),
    }
}

/// Returns the values of an object by name; `null` is none.
pub fn settings(value: &Node) -> Settings {
    let read = |entry: &JsonEntry| Some((entry.name.clone(), setting(&entry.value)?));
    entries(value).into_iter().filter_map(read).collect()
}

/// Returns a value as it can be known; `null` is none.
pub fn setting(value: &Node) -> Option<Setting> {
    Some(match value {
        Node::Null => return None,
        Node::Bool(value) => Setting::Literal(value.to_string()),
        Node::Number(text) => Setting::Literal(text.clone()),
        Node::Text(text) if text.contains("${") || text.contains("%{") => {
            Setting::Expression(format!("\"{text}\""))
        }
        Node::Text(text) => Setting::Literal(text.clone()),
        Node::Object(_) => Setting::Map(settings(value)),
        // A nested block may be written as a list of one.
        Node::List(list) => match list.as_slice() {
            [only @ Node::Object(_)] => Setting::Map(settings(only)),
            _ => Setting::Expression(list_text(list)),
        },
        Node::Deep => Setting::Expression("…".to_owned()),
    })
}

fn list_text(list: &[Node]) -> String {
    let items = list.iter().map(|item| setting(item).map_or("null".to_owned(), |item| item.to_string()));
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
