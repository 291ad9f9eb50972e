//! The text of a value as Python writes it: `str()` for output, `repr()` inside collections.

use std::fmt::Write as _;

use minijinja::value::{DynObject, Value, ValueKind};

use super::number::float_text;
use super::objects::Group;
use super::range::Range;

/// How deep collections are written; what is deeper is `...`, as is a list that holds itself.
const MAX_DEPTH: usize = 64;

/// Returns what printing a value shows.
pub fn string(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_owned(),
        None => repr(value),
    }
}

/// Returns what a value looks like inside a list.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_repr(&mut out, value, 0);
    out
}

fn write_repr(out: &mut String, value: &Value, depth: usize) {
    if depth > MAX_DEPTH {
        out.push_str("...");
        return;
    }
    match value.kind() {
        ValueKind::String => quote(out, value.as_str().unwrap_or_default()),
        ValueKind::Number => out.push_str(&number(value)),
        ValueKind::Map => map(out, value, depth),
        ValueKind::Seq if value.downcast_object_ref::<Range>().is_some() => write_other(out, value),
        ValueKind::Seq | ValueKind::Iterable if value.len().is_some() => sequence(out, value, depth),
        ValueKind::Undefined if depth > 0 => out.push_str("Undefined"),
        _ => write_other(out, value),
    }
}

fn write_other(out: &mut String, value: &Value) {
    // Writing into a string cannot fail.
    let _ = write!(out, "{value}");
}

fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    f64::try_from(value.clone()).map_or_else(|_| value.to_string(), float_text)
}

fn map(out: &mut String, value: &Value, depth: usize) {
    // What is no map of data, such as a module or a namespace, knows its own text.
    let Some(pairs) = value.as_object().and_then(DynObject::try_iter_pairs) else {
        return write_other(out, value);
    };
    out.push('{');
    for (at, (key, value)) in pairs.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        write_repr(out, &key, depth + 1);
        out.push_str(": ");
        write_repr(out, &value, depth + 1);
    }
    out.push('}');
}

/// Returns whether a sequence is printed in round brackets.
pub fn is_tuple(value: &Value) -> bool {
    value.is_tuple() || value.downcast_object_ref::<Group>().is_some()
}

fn sequence(out: &mut String, value: &Value, depth: usize) {
    let tuple = is_tuple(value);
    out.push(if tuple { '(' } else { '[' });
    let mut count = 0;
    for item in value.try_iter().into_iter().flatten() {
        if count > 0 {
            out.push_str(", ");
        }
        write_repr(out, &item, depth + 1);
        count += 1;
    }
    if tuple && count == 1 {
        out.push(',');
    }
    out.push(if tuple { ')' } else { ']' });
}

/// Writes a text in quotes: single ones, unless it has such and no double ones.
fn quote(out: &mut String, text: &str) {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(mark);
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if char == mark => out.extend(['\\', char]),
            _ if is_printable(char) => out.push(char),
            _ => escape(out, char),
        }
    }
    out.push(mark);
}

fn escape(out: &mut String, char: char) {
    let code = u32::from(char);
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02x}"),
        0x100..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Returns whether Python shows a character as it is; spaces other than the plain one and marks
/// without a shape are escaped.
fn is_printable(char: char) -> bool {
    let shapeless = matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{fffb}');
    char == ' ' || !(char.is_control() || char.is_whitespace() || shapeless)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::jinja::python::from_json;

    #[test]
    fn collections_look_as_python_shows_them() {
        let value = from_json(&serde_json::json!({"a": [1, 2.0, null, true, "it's"], "b": {"c\n": "x\"'"}}));

        assert_eq!(repr(&value), r#"{'a': [1, 2.0, None, True, "it's"], 'b': {'c\n': 'x"\''}}"#);
    }
}
