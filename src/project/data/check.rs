//! Checks data against its JSON schema, and tells every mistake with its place.
//!
//! It knows the few keywords that our own schemas use. What breaks a rule is a mistake; what breaks
//! one of `x-advised`, which are stricter than what such data has to keep elsewhere, is a warning. A
//! key without a value is a key that is not there. Begin at [`Checker::map`].

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use ipnet::IpNet;
use regex::Regex;
use serde_json::Value;

use super::fault;
use super::fault::Fault;
use super::node::{Content, DataPlace, MapEntry, Node, given, join};
use super::{DataWarning, misspelt_keys};
use crate::model::nearest;

/// Gathers what is wrong and what is odd.
#[derive(Debug, Default)]
pub struct Checker {
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// What is odd.
    pub warnings: Vec<DataWarning>,
    patterns: HashMap<String, Option<Regex>>,
}

impl Checker {
    /// Checks the entries of a map; `place` is where a missing key would be missed.
    pub fn map(&mut self, entries: &[MapEntry], place: Option<&DataPlace>, schema: &Value, path: &str) {
        let Some(properties) = schema["properties"].as_object() else { return };
        for (key, rule) in properties {
            if let Some(entry) = entries.iter().find(|entry| entry.key == *key) {
                self.node(&entry.value, rule, &join(path, key));
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for key in required.filter(|key| given(entries, key).is_none()) {
            let Some(place) = place else { continue };
            let hint = misspelt_keys::meant_for(key, entries, properties);
            let message = format!("`{}` is missing", join(path, key));
            self.faults.push(Fault::new(place, message).hint(hint));
        }
    }

    fn node(&mut self, node: &Node, schema: &Value, path: &str) {
        if node.is_null() {
            // A required key that is empty is missed where the map is checked.
            return;
        }
        if !has_type(node, schema) || !self.fits(node, schema) {
            self.wrong(node, schema, path);
            return;
        }
        self.advise(node, schema, path);
        match &node.content {
            Content::Map(entries) => self.map(entries, Some(&node.place), schema, path),
            Content::List(items) => self.items(items, schema, path),
            Content::Scalar(_) => {}
        }
    }

    fn items(&mut self, items: &[std::sync::Arc<Node>], schema: &Value, path: &str) {
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("{path}[{index}]");
            if item.is_null() {
                self.wrong(item, &schema["items"], &path);
                continue;
            }
            self.node(item, &schema["items"], &path);
            if schema["x-advised"]["uniqueItems"] == true && !seen.insert(item.as_str()) {
                let message = format!("`{path}` is in the list already: {}", fault::found(&path, item));
                self.warn(&item.place, message);
            }
        }
    }

    /// Warns of a value that keeps its rules and not the stricter ones.
    fn advise(&mut self, node: &Node, schema: &Value, path: &str) {
        let advised = &schema["x-advised"];
        let of_type = types(advised).next().is_none() || has_type(node, advised);
        if advised.is_null() || of_type && self.fits(node, advised) {
            return;
        }
        let hint = node.as_str().and_then(|text| self.advice(text, advised));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        let (expected, found) = (expected(advised), fault::found(path, node));
        self.warn(&node.place, format!("`{path}` should be {expected}, found {found}{hint}"));
    }

    /// Adds a warning.
    pub fn warn(&mut self, place: &DataPlace, message: String) {
        self.warnings.push(DataWarning { place: place.clone(), message });
    }

    /// Returns whether a single value keeps the rules; lists and maps have none of their own.
    fn fits(&mut self, node: &Node, schema: &Value) -> bool {
        let Content::Scalar(value) = &node.content else { return true };
        let listed = |list: &Value| list.as_array().is_some_and(|list| list.contains(value));
        if !schema["enum"].is_null() && !listed(&schema["enum"]) || listed(&schema["not"]["enum"]) {
            return false;
        }
        match value {
            Value::String(text) => self.text_fits(text, schema),
            Value::Number(number) => in_range(number.as_f64(), schema),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => true,
        }
    }

    fn text_fits(&mut self, text: &str, schema: &Value) -> bool {
        let long_enough =
            schema["minLength"].as_u64().is_none_or(|least| text.chars().count() as u64 >= least);
        let matches = schema["pattern"].as_str().is_none_or(|pattern| self.matches(pattern, text));
        let formed = match schema["x-form"].as_str() {
            Some("address") => text.parse::<IpAddr>().is_ok(),
            Some("network") => text.parse::<IpNet>().is_ok(),
            _ => true,
        };
        long_enough && matches && formed
    }

    fn wrong(&mut self, node: &Node, schema: &Value, path: &str) {
        let message = format!("`{path}` must be {}", expected(schema));
        let secret = schema["writeOnly"] == true;
        let found = if secret { fault::sort_of(&node.content).to_owned() } else { fault::found(path, node) };
        let hint = if secret { None } else { node.as_str().and_then(|text| self.advice(text, schema)) };
        self.faults.push(Fault::new(&node.place, message).found(found).hint(hint));
    }

    /// Returns how to correct the usual mistakes: case, a `v` before a version, quotes, a word for true.
    fn advice(&mut self, text: &str, schema: &Value) -> Option<String> {
        let meant = |text: &str| Some(format!("did you mean `{text}`?"));
        if types(schema).any(|name| name == "boolean") {
            return match text.to_lowercase().as_str() {
                "yes" | "on" | "true" | "y" => meant("true"),
                "no" | "off" | "false" | "n" => meant("false"),
                _ => None,
            };
        }
        if types(schema).any(|name| ["integer", "number"].contains(&name)) && text.parse::<i64>().is_ok() {
            return Some("write the number without quotes".to_owned());
        }
        if let Some(choices) = schema["enum"].as_array() {
            return nearest(text, choices.iter().filter_map(Value::as_str)).and_then(meant);
        }
        let lower = text.trim().to_lowercase();
        let candidates = [lower.replace('-', ":"), lower, text.trim_start_matches('v').to_owned()];
        let pattern = schema["pattern"].as_str()?;
        let refused =
            |text: &str| schema["not"]["enum"].as_array().is_some_and(|list| list.contains(&text.into()));
        let mut usable = candidates.iter().filter(|candidate| *candidate != text && !refused(candidate));
        usable.find(|text| self.matches(pattern, text)).and_then(|text| meant(text))
    }

    fn matches(&mut self, pattern: &str, text: &str) -> bool {
        if !self.patterns.contains_key(pattern) {
            self.patterns.insert(pattern.to_owned(), Regex::new(pattern).ok());
        }
        self.patterns.get(pattern).and_then(Option::as_ref).is_none_or(|regex| regex.is_match(text))
    }
}

fn in_range(number: Option<f64>, schema: &Value) -> bool {
    let least = schema["minimum"].as_f64().unwrap_or(f64::NEG_INFINITY);
    let most = schema["maximum"].as_f64().unwrap_or(f64::INFINITY);
    number.is_some_and(|number| (least..=most).contains(&number))
}

fn has_type(node: &Node, schema: &Value) -> bool {
    let actual = match &node.content {
        Content::List(_) => "array",
        Content::Map(_) => "object",
        Content::Scalar(Value::Bool(_)) => "boolean",
        Content::Scalar(Value::Number(number)) if number.is_f64() => "number",
        Content::Scalar(Value::Number(_)) => "integer",
        Content::Scalar(_) => "string",
    };
    types(schema).any(|name| name == actual || name == "number" && actual == "integer")
}

fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let several = schema["type"].as_array().into_iter().flatten().filter_map(Value::as_str);
    several.chain(schema["type"].as_str())
}

/// Says in a person's words what a schema expects.
fn expected(schema: &Value) -> String {
    if let Some(words) = schema["x-expected"].as_str() {
        return words.to_owned();
    }
    if let Some(choices) = schema["enum"].as_array() {
        let choices = choices.iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`"));
        return format!("one of {}", choices.collect::<Vec<_>>().join(", "));
    }
    let words = match types(schema).next() {
        Some("integer") => return format!("a whole number{}", range(schema)),
        Some("boolean") => "`true` or `false`",
        Some("array") => "a list",
        Some("object") => "a map",
        _ => "a text that is not empty",
    };
    words.to_owned()
}

fn range(schema: &Value) -> String {
    match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    }
}
