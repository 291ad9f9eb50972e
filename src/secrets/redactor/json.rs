//! Masks the values in a JSON document; its shape stays.

use serde_json::{Map, Value};

use super::Redactor;

impl Redactor {
    /// Returns a value with every secret masked in its texts, numbers and keys.
    ///
    /// Everything in it must come from outside: a word that has a meaning to its reader would be
    /// masked like any other.
    pub fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.line(&text).into_owned()),
            Value::Number(number) => {
                let text = number.to_string();
                let shown = self.line(&text);
                if shown == text { Value::Number(number) } else { Value::String(shown.into_owned()) }
            }
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => {
                let masked =
                    map.into_iter().map(|(key, item)| (self.line(&key).into_owned(), self.value(item)));
                Value::Object(masked.collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// Returns a value with every secret masked in its keys alone, as in the type of a value, whose
    /// other words have a meaning.
    pub fn keys(&self, value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.keys(item)).collect(),
            Value::Object(map) => {
                let masked =
                    map.into_iter().map(|(key, item)| (self.line(&key).into_owned(), self.keys(item)));
                Value::Object(masked.collect::<Map<_, _>>())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn in_a_type_only_the_names_of_attributes_are_masked() {
        let redactor = Redactor::new(["s3cret", "string"]).expect("a redactor");

        let shown = redactor.keys(json!(["object", {"s3cret": "string"}]));

        assert_eq!(shown, json!(["object", {crate::secrets::redactor::MASK: "string"}]));
    }

    #[test]
    fn secrets_are_masked_at_any_depth_and_the_shape_stays() {
        let redactor = Redactor::new(["s3cret", "18443"]).expect("a redactor");

        let shown = redactor.value(json!({"a": ["x s3cret", 18443, 1, true, null], "s3cret": {"b": "open"}}));

        let mask = crate::secrets::redactor::MASK;
        assert_eq!(shown, json!({"a": [format!("x {mask}"), mask, 1, true, null], mask: {"b": "open"}}));
    }
}
