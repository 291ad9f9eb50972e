//! Values written as the HCL of a variables file.
//!
//! A file behind `/dev/fd/N` has no `.json` ending, so tofu reads it as HCL. JSON is
//! almost HCL; strings differ in template markers and two escapes.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use zeroize::Zeroizing;

/// What a variable is set to.
#[derive(Clone)]
pub enum Assignment {
    /// A value.
    Value(Value),
    /// An expression as somebody wrote it.
    Hcl {
        /// The text.
        text: Zeroizing<String>,
        /// What it says, if it is a single text, number or boolean.
        said: Option<Zeroizing<String>>,
        /// The literals in it.
        literals: Vec<Zeroizing<String>>,
    },
}

/// Where a call takes variables from; what comes later wins.
#[derive(Clone, Debug)]
pub enum VariableSource {
    /// A plain file.
    File(PathBuf),
    /// The text of a variables file that must not touch the disk.
    Text(Zeroizing<String>),
}

/// Never shows what a variable is set to.
impl std::fmt::Debug for Assignment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Assignment(…)")
    }
}

impl Assignment {
    /// Returns every text in it that could give it away.
    pub fn literals(&self) -> Vec<Zeroizing<String>> {
        match self {
            Self::Value(value) => {
                let mut found = Vec::new();
                collect_literals(value, &mut found);
                found
            }
            Self::Hcl { literals, .. } => literals.clone(),
        }
    }

    /// Returns it as a single text, if it is one.
    pub fn as_text(&self) -> Option<Zeroizing<String>> {
        match self {
            Self::Value(Value::String(text)) => Some(Zeroizing::new(text.clone())),
            Self::Value(value @ (Value::Number(_) | Value::Bool(_))) => {
                Some(Zeroizing::new(value.to_string()))
            }
            Self::Value(_) => None,
            Self::Hcl { said, .. } => said.clone(),
        }
    }
}

/// Collects the texts inside a text that is a document of JSON, such as the key of a service account.
///
/// Not its numbers, and not what says of which type it is: such words stand in many a message.
fn collect_inner(text: &str, into: &mut Vec<Zeroizing<String>>) {
    if !text.trim_start().starts_with(['{', '[']) {
        return;
    }
    let mut open: Vec<Value> = serde_json::from_str(text).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => collect_literals(&Value::String(text), into),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => {
                open.extend(map.into_iter().filter(|(key, _)| key != "type").map(|(_, value)| value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Collects the texts and numbers in a value, at any depth.
pub fn collect_literals(value: &Value, into: &mut Vec<Zeroizing<String>>) {
    match value {
        Value::String(text) => {
            into.push(Zeroizing::new(text.clone()));
            collect_inner(text, into);
        }
        Value::Number(number) => into.push(Zeroizing::new(number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| collect_literals(item, into)),
        Value::Object(map) => map.values().for_each(|value| collect_literals(value, into)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Writes variables as the content of a `.tfvars` file.
pub fn to_tfvars<'a>(variables: impl IntoIterator<Item = (&'a str, &'a Assignment)>) -> String {
    let mut text = String::new();
    for (name, assigned) in variables {
        text.push_str(name);
        text.push_str(" = ");
        match assigned {
            Assignment::Value(value) => write_value(&mut text, value),
            Assignment::Hcl { text: expression, .. } => text.push_str(expression),
        }
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

        assert_eq!(
            to_tfvars([("x", &Assignment::Value(value))]),
            "x = \"a $${b} %%{c} $d \\\"q\\\" \\\\ \\u0008\\n\"\n"
        );
    }

    #[test]
    fn nested_values_become_hcl_expressions() {
        let value = json!({"a b": [1, null, true], "c": {}});

        assert_eq!(to_tfvars([("x", &Assignment::Value(value))]), "x = {\"a b\"=[1,null,true],\"c\"={}}\n");
    }
}
