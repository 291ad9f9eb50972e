//! What a data file says, as a tree in which every key and value knows its place.
//!
//! A node also knows how much it weighs once its aliases are written out and how deep it is,
//! so that a few lines of YAML cannot fill the memory. Begin at [`Node`].

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// How many bytes the values of one file may take in memory, aliases written out.
const WEIGHT_LIMIT: usize = 64 * 1024 * 1024;
/// How deep lists and maps may be nested.
pub const DEPTH_LIMIT: usize = 128;
/// About what a value takes in memory beside its text.
const SCALAR_WEIGHT: usize = 32;

/// Where something stands: file, line and column, the latter two from 1.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataPlace {
    /// The file as a person would name it, relative to the root.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for DataPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value with its place.
#[derive(Debug)]
pub struct Node {
    /// Where it begins.
    pub place: DataPlace,
    /// What it is.
    pub content: Content,
    weight: usize,
    depth: usize,
}

/// What a node is.
#[derive(Debug)]
pub enum Content {
    /// A text, a number, true, false or null.
    Scalar(Value),
    /// A list.
    List(Vec<Arc<Node>>),
    /// A map, in the order of the file; no key stands in it twice.
    Map(Vec<MapEntry>),
}

/// One key of a map and its value.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub place: DataPlace,
    /// The value.
    pub value: Arc<Node>,
}

impl Node {
    /// Makes a node of a single value.
    pub fn scalar(place: DataPlace, value: Value) -> Self {
        let text = value.as_str().map_or(0, str::len);
        Self { place, content: Content::Scalar(value), weight: SCALAR_WEIGHT + text, depth: 1 }
    }

    /// Makes a list; one that is too deep or too large is an error.
    pub fn list(place: DataPlace, items: Vec<Arc<Self>>) -> Result<Self> {
        let weight = items.iter().fold(SCALAR_WEIGHT, |sum, item| sum.saturating_add(item.weight));
        let depth = items.iter().map(|item| item.depth).max().unwrap_or(0) + 1;
        Self { place, content: Content::List(items), weight, depth }.within_limits()
    }

    /// Makes a map; one that is too deep or too large is an error.
    pub fn map(place: DataPlace, entries: Vec<MapEntry>) -> Result<Self> {
        let weight = entries.iter().fold(SCALAR_WEIGHT, |sum, entry| sum.saturating_add(entry.weight()));
        let depth = entries.iter().map(|entry| entry.value.depth).max().unwrap_or(0) + 1;
        Self { place, content: Content::Map(entries), weight, depth }.within_limits()
    }

    fn within_limits(self) -> Result<Self> {
        if self.depth > DEPTH_LIMIT {
            return Err(too_deep(&self.place));
        }
        if self.weight > WEIGHT_LIMIT {
            return Err(too_large(&self.place));
        }
        Ok(self)
    }

    /// Returns the value, without places.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Value::Array(items.iter().map(|item| item.to_value()).collect()),
            Content::Map(entries) => Value::Object(to_values(entries)),
        }
    }

    /// Returns the entries of a map; nothing else has any.
    pub fn entries(&self) -> &[MapEntry] {
        match &self.content {
            Content::Map(entries) => entries,
            Content::Scalar(_) | Content::List(_) => &[],
        }
    }

    /// Returns the items of a list; nothing else has any.
    pub fn items(&self) -> &[Arc<Self>] {
        match &self.content {
            Content::List(items) => items,
            Content::Scalar(_) | Content::Map(_) => &[],
        }
    }

    /// Returns the text, where it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(value) => value.as_str(),
            Content::List(_) | Content::Map(_) => None,
        }
    }

    /// Returns whether nothing is given here.
    pub const fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// Returns the value of a key, where this is a map that has it and it is not null.
    pub fn get(&self, key: &str) -> Option<&Arc<Self>> {
        given(self.entries(), key)
    }
}

impl MapEntry {
    /// Returns about how many bytes it takes in memory.
    pub fn weight(&self) -> usize {
        self.value.weight.saturating_add(self.key.len() + SCALAR_WEIGHT)
    }
}

/// Returns the value of a key, where it is there and not null.
pub fn given<'a>(entries: &'a [MapEntry], key: &str) -> Option<&'a Arc<Node>> {
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value).filter(|value| !value.is_null())
}

/// Returns the values of entries, without places.
pub fn to_values(entries: &[MapEntry]) -> Map<String, Value> {
    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect()
}

/// Counts what reading one file has put into memory, and stops where that is too much.
#[derive(Debug, Default)]
pub struct Budget(usize);

impl Budget {
    /// Takes some bytes; an error where the file has taken too many.
    pub fn take(&mut self, bytes: usize, place: &DataPlace) -> Result<()> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > WEIGHT_LIMIT { Err(too_large(place)) } else { Ok(()) }
    }
}

/// Makes the error of lists and maps that are nested too deep.
pub fn too_deep(place: &DataPlace) -> Error {
    Error::invalid(format!("`{}` is nested more than {DEPTH_LIMIT} levels deep", place.file)).at(place)
}

fn too_large(place: &DataPlace) -> Error {
    let limit = WEIGHT_LIMIT / (1024 * 1024);
    Error::invalid(format!("`{}` holds more than {limit} MiB of values", place.file))
        .at(place)
        .hint("a data file describes a cluster; keep bulk data elsewhere")
}

/// Returns the path of a key: `a`, then `a.b`.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
