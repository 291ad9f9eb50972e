//! What `tofu show -json` writes of a plan or a state, without what must not be shown.
//!
//! Pure: a document in, the same document out. What tofu marks as sensitive is masked by its marks:
//! in changes, in planned values and states, in variables, outputs and what is given to modules.
//! Providers copy such values into attributes that nothing marks, so a long one is masked wherever it
//! occurs, a short one or a number within its own resource. Secrets of encrypted files are masked in
//! every text. The words and keys of the format stay. Begin at [`mask_document`].

use serde_json::{Map, Value};

use super::plan_value::has_mark;
use crate::engine::state_content::{MASK, collect_leaves, is_telling};
use crate::secrets::redactor::Redactor;

/// Keys whose texts are words of the format.
const WORDS: [&str; 7] =
    ["action_reason", "actions", "format_version", "mode", "terraform_version", "timestamp", "type"];

/// Keys below which every key and every text comes from outside.
const VALUES: [&str; 6] =
    ["value", "default", "constant_value", "importing", "before_identity", "after_identity"];

/// Returns the document as it may be shown.
pub fn mask_document(document: Value, redactor: &Redactor) -> Value {
    let mut found = Vec::new();
    let declared = document["configuration"]["root_module"]["variables"].clone();
    collect(&document, &mut found);
    collect_given(&document["variables"], &declared, "value", &mut found);
    found.retain(|text| is_telling(text));
    found.sort_unstable();
    found.dedup();
    let mask = DocumentMask { sensitive: Redactor::of_whole(&found).ok(), redactor };
    let document = mask.hide_given(document, "variables", &declared, "value");
    mask.part(document)
}

/// Adds what is marked anywhere in a document.
fn collect(part: &Value, found: &mut Vec<String>) {
    match part {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => {
            own_leaves(part, found);
            let variables = &part["module"]["variables"];
            collect_given(&part["expressions"], variables, "constant_value", found);
            map.values().for_each(|item| collect(item, found));
        }
        _ => {}
    }
}

/// Adds what the marks of a change, a resource, an output or a variable are about.
fn own_leaves(part: &Value, found: &mut Vec<String>) {
    for (values, marks) in MARKED {
        collect_marked(&part[values], &part[marks], found);
    }
    if part["sensitive"] == true {
        collect_leaves(&part["value"], found);
        collect_leaves(&part["default"], found);
    }
}

/// Values and where their marks stand.
const MARKED: [(&str, &str); 3] =
    [("before", "before_sensitive"), ("after", "after_sensitive"), ("values", "sensitive_values")];

fn collect_marked(value: &Value, marks: &Value, found: &mut Vec<String>) {
    match (marks, value) {
        (Value::Bool(true), _) => collect_leaves(value, found),
        (Value::Array(marks), Value::Array(items)) => {
            marks.iter().zip(items).for_each(|(mark, item)| collect_marked(item, mark, found));
        }
        (Value::Object(marks), Value::Object(map)) => {
            let both = marks.iter().filter_map(|(key, mark)| Some((mark, map.get(key)?)));
            both.for_each(|(mark, item)| collect_marked(item, mark, found));
        }
        _ => {}
    }
}

/// Adds what is given to variables that are declared as sensitive.
fn collect_given(given: &Value, declared: &Value, key: &str, found: &mut Vec<String>) {
    for (name, value) in given.as_object().into_iter().flatten() {
        if declared[name.as_str()]["sensitive"] == true {
            collect_leaves(&value[key], found);
        }
    }
}

struct DocumentMask<'a> {
    /// Long values that are sensitive somewhere; `None` where they are too many, and then all is hidden.
    sensitive: Option<Redactor>,
    redactor: &'a Redactor,
}

impl DocumentMask<'_> {
    /// Masks a part of the document, whose keys belong to the format.
    fn part(&self, part: Value) -> Value {
        match part {
            Value::Object(_) => self.object(part),
            Value::Array(items) => items.into_iter().map(|item| self.part(item)).collect(),
            Value::String(text) => self.text(&text, &[]).into(),
            other => other,
        }
    }

    fn object(&self, part: Value) -> Value {
        let mut own = Vec::new();
        own_leaves(&part, &mut own);
        let hides = part["sensitive"] == true;
        let variables = part["module"]["variables"].clone();
        let part = self.hide_given(part, "expressions", &variables, "constant_value");
        let Value::Object(map) = part else { return part };
        let marks: Vec<(&str, Value)> = MARKED
            .into_iter()
            .filter_map(|(values, marks)| Some((values, map.get(marks)?.clone())))
            .collect();
        let masked = |(key, value): (String, Value)| {
            let of_it = marks.iter().find(|(values, _)| *values == key).map(|(_, marks)| marks);
            let value = match (key.as_str(), of_it) {
                (_, Some(marks)) => self.attributes(value, marks, &own),
                ("value" | "default", _) if hides => MASK.into(),
                (key, _) if WORDS.contains(&key) => value,
                (key, _) if VALUES.contains(&key) => self.value(value, &own),
                (key, _) if MARKED.iter().any(|(_, marks)| *marks == key) || key == "after_unknown" => {
                    self.redactor.keys(value)
                }
                _ => self.part(value),
            };
            (key, value)
        };
        Value::Object(map.into_iter().map(masked).collect())
    }

    /// Hides what is given to variables that are declared as sensitive.
    fn hide_given(&self, mut part: Value, given: &str, declared: &Value, key: &str) -> Value {
        let given = part.get_mut(given).and_then(Value::as_object_mut);
        for (name, value) in given.into_iter().flatten() {
            let is_sensitive = declared[name.as_str()]["sensitive"] == true;
            if let Some(value) = value.get_mut(key).filter(|_| is_sensitive) {
                *value = MASK.into();
            }
        }
        part
    }

    /// Masks the attributes of a resource, whose names tell nothing, or the value of an output.
    fn attributes(&self, values: Value, marks: &Value, own: &[String]) -> Value {
        match (values, marks) {
            (Value::Object(map), Value::Object(marks)) => {
                let masked = |(name, item): (String, Value)| {
                    let mark = marks.get(&name).unwrap_or(&Value::Null);
                    (self.redactor.line(&name).into_owned(), self.marked(item, mark, own))
                };
                Value::Object(map.into_iter().map(masked).collect::<Map<_, _>>())
            }
            (values, marks) => self.marked(values, marks, own),
        }
    }

    /// Masks a value that has marks.
    fn marked(&self, value: Value, marks: &Value, own: &[String]) -> Value {
        match (value, marks) {
            (Value::Null, _) => Value::Null,
            (_, Value::Bool(true)) => MASK.into(),
            (Value::Array(items), Value::Array(marks)) if has_mark(&Value::Array(marks.clone())) => {
                let marks = marks.iter().chain(std::iter::repeat(&Value::Null));
                items.into_iter().zip(marks).map(|(item, mark)| self.marked(item, mark, own)).collect()
            }
            (Value::Object(map), Value::Object(marks)) => {
                let masked = |(key, item): (String, Value)| {
                    let mark = marks.get(&key).unwrap_or(&Value::Null);
                    (self.key(&key), self.marked(item, mark, own))
                };
                Value::Object(map.into_iter().map(masked).collect::<Map<_, _>>())
            }
            (value, _) => self.value(value, own),
        }
    }

    /// Masks a value that has no marks.
    fn value(&self, value: Value, own: &[String]) -> Value {
        match value {
            Value::String(text) => self.text(&text, own).into(),
            Value::Number(number) if own.contains(&number.to_string()) => MASK.into(),
            Value::Number(number) => self.redactor.value(Value::Number(number)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item, own)).collect(),
            Value::Object(map) => {
                let masked = |(key, item): (String, Value)| (self.key(&key), self.value(item, own));
                Value::Object(map.into_iter().map(masked).collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    fn text(&self, text: &str, own: &[String]) -> String {
        if own.iter().any(|own| own == text) || self.is_sensitive(text) {
            return MASK.to_owned();
        }
        self.redactor.line(text).into_owned()
    }

    fn is_sensitive(&self, text: &str) -> bool {
        self.sensitive.as_ref().is_none_or(|sensitive| sensitive.line(text) != text)
    }

    /// Masks a key that a value is kept under.
    fn key(&self, key: &str) -> String {
        if self.is_sensitive(key) { MASK.to_owned() } else { self.redactor.line(key).into_owned() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(document: Value) -> Value {
        mask_document(document, &Redactor::new(["from-a-file", "create"]).expect("a redactor"))
    }

    #[test]
    fn what_is_marked_is_masked_and_its_copies_too() {
        let change = json!({"actions": ["create"], "before": null, "before_sensitive": false,
            "after": {"input": "hunter2-long", "pin": 42, "copy": "x hunter2-long", "same": 42, "open": "o",
                "encoded": "aHVudGVyMi1sb25n", "map": {"hunter2-long": 1}},
            "after_sensitive": {"input": true, "pin": true}, "after_unknown": {"id": true}});

        let shown = masked(json!({"resource_changes": [{"address": "a.b", "change": change}]}));

        let change = &shown["resource_changes"][0]["change"];
        let hidden = json!({"input": MASK, "pin": MASK, "copy": MASK, "same": MASK, "open": "o",
            "encoded": MASK, "map": {MASK: 1}});
        assert_eq!((&change["after"], &change["actions"]), (&hidden, &json!(["create"])));
        assert_eq!((&change["before"], &change["after_unknown"]), (&Value::Null, &json!({"id": true})));
    }

    #[test]
    fn variables_outputs_states_and_what_modules_are_given_are_masked() {
        let module = json!({"expressions": {"pw": {"constant_value": "module-secret"}, "n": {"constant_value": 1}},
            "module": {"variables": {"pw": {"sensitive": true}, "n": {}}}});
        let resource = json!({"values": {"a": [{"b": "state-secret"}, "o"]}, "sensitive_values": {"a": [{"b": true}, false]}});
        let outputs = json!({"s": {"sensitive": true, "value": {"k": "output-secret"}}, "o": {"sensitive": false, "value": "o"}});
        let document = json!({
            "variables": {"pw": {"value": "var-secret"}, "o": {"value": "from-a-file!"}},
            "configuration": {"root_module": {"variables": {"pw": {"sensitive": true, "default": "default-secret"}},
                "module_calls": {"m": module}}},
            "prior_state": {"values": {"outputs": outputs, "root_module": {"child_modules": [{"resources": [resource]}]}}},
        });

        let shown = masked(document);

        let text = shown.to_string();
        assert!(!text.contains("-secret") && !text.contains("from-a-file"), "{text}");
        assert_eq!(shown["variables"]["o"]["value"], "(redacted)!");
        let state = &shown["prior_state"]["values"];
        assert_eq!(state["outputs"]["o"]["value"], "o");
        let values = &state["root_module"]["child_modules"][0]["resources"][0]["values"];
        assert_eq!(values, &json!({"a": [{"b": MASK}, "o"]}));
    }

    #[test]
    fn a_document_of_any_shape_is_no_panic_and_stays_what_it_is() {
        for odd in [json!(null), json!([1, {"before_sensitive": 3, "before": [1]}]), json!({"variables": []})]
        {
            assert_eq!(masked(odd.clone()), odd);
        }
    }
}
