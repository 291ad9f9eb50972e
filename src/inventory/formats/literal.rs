//! Values as literals that Python and YAML read alike, but for their words for truth and nothing.
//!
//! Everything but letters, digits and the visible signs of ASCII is written as an escape: no name of a
//! machine can end a line, a text or a comment.

use serde_json::Value;

/// How a language writes what JSON has words for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dialect {
    Python,
    Yaml,
}

/// Returns a value as a literal.
pub(super) fn literal(value: &Value, dialect: Dialect) -> String {
    match (value, dialect) {
        (Value::Null, Dialect::Python) => "None".to_owned(),
        (Value::Bool(truth), Dialect::Python) => if *truth { "True" } else { "False" }.to_owned(),
        (Value::Null | Value::Bool(_) | Value::Number(_), _) => value.to_string(),
        (Value::String(text), _) => text_literal(text),
        (Value::Array(list), _) => {
            let items: Vec<String> = list.iter().map(|item| literal(item, dialect)).collect();
            format!("[{}]", items.join(", "))
        }
        (Value::Object(map), _) => {
            let pair =
                |(key, item): (&String, &Value)| format!("{}: {}", text_literal(key), literal(item, dialect));
            format!("{{{}}}", map.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a text in double quotes; it has no single quote in it.
pub(super) fn text_literal(text: &str) -> String {
    let mut literal = String::from('"');
    for sign in text.chars() {
        match sign {
            '"' | '\\' => literal.extend(['\\', sign]),
            '\'' => literal.push_str("\\u0027"),
            ' '..='~' => literal.push(sign),
            sign if sign.is_alphanumeric() => literal.push(sign),
            sign if u32::from(sign) > 0xffff => literal.push_str(&format!("\\U{:08x}", u32::from(sign))),
            sign => literal.push_str(&format!("\\u{:04x}", u32::from(sign))),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn literals_hold_on_to_every_sign() {
        let value = json!({"a\n": ["it's", true, null, 1, "\u{1f600}é\u{85}\"\\"]});

        let wanted = r#"{"a\u000a": ["it\u0027s", True, None, 1, "\U0001f600é\u0085\"\\"]}"#;
        assert_eq!(literal(&value, Dialect::Python), wanted);
        assert!(literal(&value, Dialect::Yaml).contains("true, null, 1"));
    }
}
