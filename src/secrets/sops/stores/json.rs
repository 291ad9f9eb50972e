//! The JSON store: one object, its keys in order, numbers whole where they fit.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::number;
use crate::error::{Error, Result};
use crate::secrets::sops::tree::{Document, Item, ListEntry, Value};

/// Reads an object.
pub(super) fn load(bytes: &[u8]) -> Result<Vec<Document>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let Json(value) = serde_json::from_slice(bytes).map_err(|error| syntax_error(&error))?;
    match value {
        Value::Map(items) => Ok(vec![items]),
        _ => Err(Error::invalid("the document is not an object")
            .hint("put the content below a key, such as `{\"data\": …}`")),
    }
}

/// The parser's own words may quote the text; only our own about keys and the place are kept.
fn syntax_error(error: &serde_json::Error) -> Error {
    let place = format!("line {}, column {}", error.line(), error.column());
    let text = error.to_string();
    let message = match error.classify() {
        serde_json::error::Category::Eof => "the text ends before its object does",
        serde_json::error::Category::Data if text.starts_with(TWICE) => {
            return Error::invalid(text.split(" at line").next().unwrap_or(TWICE)).at(place);
        }
        _ if text.starts_with("recursion limit") => return super::too_deep().at(place),
        _ => "the text is not valid JSON",
    };
    Error::invalid(message).at(place)
}

const TWICE: &str = "a key is there twice";

struct Json(Value);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree).map(Self)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    #[expect(clippy::cast_precision_loss, reason = "sops keeps such numbers as floats")]
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(Json(value)) = list.next_element()? {
            entries.push(ListEntry::Value(value));
        }
        Ok(Value::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (mut items, mut seen) = (Vec::new(), HashSet::new());
        while let Some((name, Json(value))) = map.next_entry::<String, Json>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(TWICE));
            }
            items.push(Item::Pair(name, value));
        }
        Ok(Value::Map(items))
    }
}

/// Writes the first document; comments are left out, since JSON has none.
pub(super) fn write(documents: &[Document], indent: Option<usize>) -> Vec<u8> {
    let mut writer = Writer {
        out: String::new(),
        unit: indent.map_or_else(|| "\t".to_owned(), |width| " ".repeat(width)),
        depth: 0,
    };
    writer.map(documents.first().map_or(&[], Vec::as_slice));
    writer.out.push('\n');
    writer.out.into_bytes()
}

struct Writer {
    out: String,
    unit: String,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(value) => self.out.push_str(&value.to_string()),
            Value::Int(number) => self.out.push_str(&number.to_string()),
            Value::Float(number) => self.out.push_str(&number::json_float(*number)),
            Value::Time(time) => self.text(time),
            Value::Text(bytes) => self.text(&String::from_utf8_lossy(bytes)),
            Value::Map(items) => self.map(items),
            Value::List(entries) => self.list(entries),
        }
    }

    fn map(&mut self, items: &[Item]) {
        let pairs: Vec<_> = items
            .iter()
            .filter_map(|item| match item {
                Item::Pair(name, value) => Some((name, value)),
                Item::Comment(_) => None,
            })
            .collect();
        self.within(['{', '}'], &pairs, |writer, (name, value)| {
            writer.text(name);
            writer.out.push_str(": ");
            writer.value(value);
        });
    }

    fn list(&mut self, entries: &[ListEntry]) {
        let values: Vec<_> = entries
            .iter()
            .filter_map(|entry| match entry {
                ListEntry::Value(value) => Some(value),
                ListEntry::Comment(_) => None,
            })
            .collect();
        self.within(['[', ']'], &values, |writer, value| writer.value(value));
    }

    fn within<T>(&mut self, [open, close]: [char; 2], parts: &[T], write: impl Fn(&mut Self, &T)) {
        self.out.push(open);
        self.depth += 1;
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.new_line();
            write(self, part);
        }
        self.depth -= 1;
        if !parts.is_empty() {
            self.new_line();
        }
        self.out.push(close);
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.out.push_str(&self.unit.repeat(self.depth));
    }

    /// Writes a text as Go does, which also hides what HTML could take for its own.
    fn text(&mut self, text: &str) {
        self.out.push('"');
        for sign in text.chars() {
            match sign {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                    self.out.push_str(&format!("\\u{:04x}", u32::from(sign)));
                }
                sign => self.out.push(sign),
            }
        }
        self.out.push('"');
    }
}

/// Returns documents as JSON: one as its object, several as a list of objects.
pub fn to_json(documents: &[Document]) -> serde_json::Value {
    match documents {
        [] => serde_json::Value::Object(serde_json::Map::new()),
        [document] => map_to_json(document),
        documents => documents.iter().map(|document| map_to_json(document)).collect(),
    }
}

fn map_to_json(items: &[Item]) -> serde_json::Value {
    let pairs = items.iter().filter_map(|item| match item {
        Item::Pair(name, value) => Some((name.clone(), value_to_json(value))),
        Item::Comment(_) => None,
    });
    serde_json::Value::Object(pairs.collect())
}

fn value_to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => serde_json::from_str(&number::json_float(*number)).unwrap_or_default(),
        Value::Time(time) => time.as_str().into(),
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into(),
        Value::Map(items) => map_to_json(items),
        Value::List(entries) => entries
            .iter()
            .filter_map(|entry| match entry {
                ListEntry::Value(value) => Some(value_to_json(value)),
                ListEntry::Comment(_) => None,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_in_its_order_and_with_a_tab() {
        let text = "{\n\t\"b\": [\n\t\t1,\n\t\t1.5,\n\t\t{}\n\t],\n\t\"a\": \"\\u003cé\\u2028\"\n}\n";

        let documents = load(text.as_bytes()).unwrap();

        assert_eq!(String::from_utf8(write(&documents, None)).unwrap(), text);
    }

    #[test]
    fn spaces_can_stand_for_the_tab() {
        let documents = load(br#"{"a":{"b":null}}"#).unwrap();

        assert_eq!(write(&documents, Some(2)), b"{\n  \"a\": {\n    \"b\": null\n  }\n}\n");
    }

    #[test]
    fn what_is_wrong_is_told_by_its_place_without_the_value() {
        let cases = [
            ("{\"a\": \"hunter2\", \"a\": 1}", "twice"),
            ("{\"a\": \"hunter2\"", "ends before"),
            ("{\"a\": hunter2}", "line 1, column"),
            ("[\"hunter2\"]", "not an object"),
            ("\"hunter2\"", "not an object"),
        ];
        for (text, reason) in cases {
            let error = load(text.as_bytes()).unwrap_err().to_string();

            assert!(error.contains(reason), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_before_the_stack_ends() {
        let text = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));

        assert!(load(text.as_bytes()).unwrap_err().message().contains("nested deeper"));
    }

    #[test]
    fn numbers_too_large_to_be_whole_are_floats() {
        let documents = load(b"{\"a\": 9223372036854775807, \"b\": 9223372036854775808}").unwrap();

        assert_eq!(documents[0][0], Item::Pair("a".into(), Value::Int(i64::MAX)));
        assert_eq!(documents[0][1], Item::Pair("b".into(), Value::Float(9_223_372_036_854_775_808.0)));
    }
}
