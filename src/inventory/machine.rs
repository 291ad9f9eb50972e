//! A machine as a reader finds it in the attributes of a resource.

use serde_json::Value;

use super::addresses::Addresses;
use super::lookup::{pairs_of, text_at, texts_at};

/// What is known of a machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    /// What it may be called, the best first.
    pub names: Vec<String>,
    /// By what other resources refer to it.
    pub anchors: Vec<String>,
    pub addresses: Addresses,
    /// Who logs in.
    pub user: Option<String>,
    /// Words that its people gave it.
    pub tags: Vec<String>,
    /// Pairs that its people gave it.
    pub labels: Vec<(String, String)>,
    /// More that is worth a variable, by the name that follows `infra_`.
    pub facts: Vec<(&'static str, Value)>,
}

impl Machine {
    /// Makes a machine with the first of these attributes as its name.
    pub fn named(attributes: &Value, paths: &[&str]) -> Self {
        let names = paths.iter().filter_map(|path| text_at(attributes, path)).collect();
        let machine = Self { names, ..Self::default() };
        machine.fact("id", attributes, "id")
    }

    /// Says by what other resources refer to it.
    pub fn anchored(mut self, family: &str, attributes: &Value, path: &str) -> Self {
        self.anchors.extend(texts_at(attributes, path).iter().map(|id| anchor(family, id)));
        self
    }

    /// Adds the public addresses at these paths.
    pub fn public(mut self, attributes: &Value, paths: &[&str]) -> Self {
        let found = paths.iter().flat_map(|path| texts_at(attributes, path));
        found.for_each(|text| self.addresses.add_public(&text));
        self
    }

    /// Adds the private addresses at these paths.
    pub fn private(mut self, attributes: &Value, paths: &[&str]) -> Self {
        let found = paths.iter().flat_map(|path| texts_at(attributes, path));
        found.for_each(|text| self.addresses.add_private(&text));
        self
    }

    /// Adds the addresses at these paths, public or not as they are.
    pub fn reached(mut self, attributes: &Value, paths: &[&str]) -> Self {
        let found = paths.iter().flat_map(|path| texts_at(attributes, path));
        found.for_each(|text| self.addresses.add(&text));
        self
    }

    /// Takes a list of words as tags.
    pub fn tagged(mut self, attributes: &Value, path: &str) -> Self {
        self.tags.extend(texts_at(attributes, path));
        self
    }

    /// Takes a map as labels.
    pub fn labelled(mut self, attributes: &Value, path: &str) -> Self {
        for pair in pairs_of(&attributes[path]) {
            if !self.labels.contains(&pair) {
                self.labels.push(pair);
            }
        }
        self
    }

    /// Adds what a path leads to as a fact, where it leads to anything.
    pub fn fact(mut self, name: &'static str, attributes: &Value, path: &str) -> Self {
        self.facts.extend(text_at(attributes, path).map(|text| (name, Value::String(text))));
        self
    }

    /// Adds whether it runs, where that is known.
    pub fn running(mut self, running: Option<bool>) -> Self {
        self.facts.extend(running.map(|running| ("running", Value::Bool(running))));
        self
    }
}

/// Returns by what a resource of a family of providers refers to a machine.
pub(super) fn anchor(family: &str, id: &str) -> String {
    format!("{family}:{id}")
}
