//! Values written as the HCL of a variables file.
//!
//! A file behind `/dev/fd/N` has no `.json` ending, so tofu reads it as HCL. JSON is
//! almost HCL; strings differ in template markers and two escapes.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes variables as the content of a `.tfvars` file.
pub fn to_tfvars<'a>(variables: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let mut text = String::new();
    for (name, value) in variables {
        text.push_str(name);
        text.push_str(" = ");
        write_value(&mut text, value);
        text.push('\n');
    }
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => text.push_str(&value.to_string()),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => write_joined(text, ('[', ']'), items, write_value),
        Value::Object(map) => write_joined(text, ('{', '}'), map, |text, (key, value)| {
            write_string(text, key);
            text.push('=');
            write_value(text, value);
        }),
    }
}

fn write_joined<T>(
    text: &mut String,
    (open, close): (char, char),
    items: impl IntoIterator<Item = T>,
    write_item: impl Fn(&mut String, T),
) {
    text.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_item(text, item);
    }
    text.push(close);
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    let mut chars = string.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            // `${` and `%{` begin a template unless the sign is doubled.
            '$' | '%' if chars.peek() == Some(&'{') => text.extend([char, char]),
            char if char.is_control() => {
                let _ = write!(text, "\\u{:04x}", u32::from(char));
            }
            char => text.push(char),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn template_markers_and_control_characters_stay_what_they_are() {
        let value = json!("a ${b} %{c} $d \"q\" \\ \u{8}\n");

        assert_eq!(to_tfvars([("x", &value)]), "x = \"a $${b} %%{c} $d \\\"q\\\" \\\\ \\u0008\\n\"\n");
    }

    #[test]
    fn nested_values_become_hcl_expressions() {
        let value = json!({"a b": [1, null, true], "c": {}});

        assert_eq!(to_tfvars([("x", &value)]), "x = {\"a b\"=[1,null,true],\"c\"={}}\n");
    }
}
