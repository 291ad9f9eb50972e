//! Turns a JSON file into a tree with places.
//!
//! `serde_json` decides first whether the text is JSON at all; the walk after it only needs to
//! find where things stand. A key that is given twice is an error, and so is what is nested too
//! deep. Begin at [`parse`].

use std::collections::HashSet;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::lines::Lines;
use crate::error::{Error, Result};
use crate::project::data::node::{Budget, DEPTH_LIMIT, DataPlace, MapEntry, Node, too_deep};

/// Reads a text that is one JSON value.
pub fn parse(file: &Arc<str>, text: &str) -> Result<Node> {
    // This skips values without calling itself, however deep they are; the walk below counts.
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| broken(file, &error))?;
    let (lines, budget) = (Lines::new(file, text), Budget::default());
    let mut walk = Walk { file, text, at: 0, depth: 0, lines, budget };
    walk.value()
}

fn broken(file: &Arc<str>, error: &serde_json::Error) -> Error {
    let said = error.to_string();
    let reason = said.split(" at line ").next().unwrap_or_default().to_owned();
    Error::invalid(format!("`{file}` is not valid JSON"))
        .at(format!("{file}:{}:{}", error.line(), error.column()))
        .detail(reason)
}

struct Walk<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    at: usize,
    depth: usize,
    lines: Lines<'a>,
    budget: Budget,
}

impl<'a> Walk<'a> {
    fn value(&mut self) -> Result<Node> {
        self.skip_space();
        let place = self.place();
        match self.peek() {
            Some(b'{') => self.nested(place, Self::map),
            Some(b'[') => self.nested(place, Self::list),
            _ => {
                let value = self.scalar();
                self.budget.take(size_of::<Node>() + value.as_str().map_or(0, str::len), &place)?;
                Ok(Node::scalar(place, value))
            }
        }
    }

    /// Reads a list or a map one level below, unless that is a level too many for the stack.
    fn nested(&mut self, place: DataPlace, read: fn(&mut Self, DataPlace) -> Result<Node>) -> Result<Node> {
        if self.depth == DEPTH_LIMIT {
            return Err(too_deep(&place));
        }
        self.depth += 1;
        let node = read(self, place);
        self.depth -= 1;
        node
    }

    fn map(&mut self, place: DataPlace) -> Result<Node> {
        let (mut entries, mut keys) = (Vec::new(), HashSet::new());
        while self.next_item(b'}') {
            let key_place = self.place();
            let key = self.scalar().as_str().unwrap_or_default().to_owned();
            self.budget.take(size_of::<MapEntry>() + 2 * key.len(), &key_place)?;
            if !keys.insert(key.clone()) {
                let message = format!("key `{key}` is given twice in `{}`", self.file);
                return Err(Error::invalid(message).at(key_place));
            }
            self.skip_space();
            self.at += 1; // the colon
            entries.push(MapEntry { key, place: key_place, value: Arc::new(self.value()?) });
        }
        Node::map(place, entries)
    }

    fn list(&mut self, place: DataPlace) -> Result<Node> {
        let mut items = Vec::new();
        while self.next_item(b']') {
            items.push(Arc::new(self.value()?));
        }
        Node::list(place, items)
    }

    /// Steps over a bracket or a comma; returns whether another item follows before the end.
    fn next_item(&mut self, end: u8) -> bool {
        self.skip_space();
        if self.peek() != Some(end) {
            self.at += 1; // the opening bracket, or a comma
            self.skip_space();
        }
        let more = self.peek().is_some_and(|byte| byte != end);
        if !more {
            self.at += 1;
        }
        more
    }

    fn scalar(&mut self) -> Value {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = if rest.starts_with('"') { string_length(rest) } else { word_length(rest) };
        let word: &'a str = rest.get(..length).unwrap_or_default();
        self.at += length;
        // What does not fit a number stays the text that it is.
        serde_json::from_str(word).ok().filter(|value| is_exact(value, word)).unwrap_or_else(|| word.into())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn place(&self) -> DataPlace {
        self.lines.place(self.at)
    }
}

/// Returns whether a number is the one that was written: a whole one may have become a float.
fn is_exact(value: &Value, word: &str) -> bool {
    !(value.is_f64() && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()))
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

fn word_length(text: &str) -> usize {
    text.bytes()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}'))
        .unwrap_or(text.len())
}
