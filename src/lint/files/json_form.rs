//! Reads what rules ask for from the JSON syntax, where a comment is an entry called `//`. Begin at [`read`].

use super::declaration::{Declaration, DeclarationKind};
use super::ignore_comment::{IgnoreComment, MARK};
use super::lines::Lines;
use super::parts::{FoundSecret, Parts, Reading};
use crate::lint::plaintext::{may_hold_secrets, suspicion};
use crate::syntax;
use crate::syntax::{JsonEntry, JsonNode, entries, setting};

/// Reads a file.
pub fn read(text: &str, lines: &Lines, reading: Reading) -> Parts {
    let (node, fault) = syntax::read_json(text);
    let mut reader = Reader { lines, parts: Parts { fault, ..Parts::default() } };
    if reading.declarations {
        reader.declarations(&node);
    }
    if reading.secrets && may_hold_secrets(text) {
        reader.secrets(&node, &Owner::default());
    }
    if text.contains(MARK) {
        reader.ignores(&node, None);
    }
    reader.parts
}

/// The entries around a value.
#[derive(Clone, Debug, Default)]
struct Owner {
    /// Where the block begins: the innermost entry of a known depth.
    block: Option<usize>,
    /// Their names.
    path: Vec<String>,
}

impl Owner {
    /// Returns the name of the variable or output, where this is its value.
    fn named(&self) -> Option<&str> {
        match self.path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["variable", name, "default"] | ["output", name, "value"] => Some(name),
            _ => None,
        }
    }

    fn below(&self, entry: &JsonEntry) -> Self {
        let mut path = self.path.clone();
        path.push(entry.name.clone());
        // Kind, then labels: what is deeper than those belongs to the block.
        let labels = match path.first().map(String::as_str) {
            Some("resource" | "data" | "ephemeral") => 3,
            Some("locals" | "terraform") => 1,
            _ => 2,
        };
        let block = if path.len() <= labels { Some(entry.at) } else { self.block };
        Self { block, path }
    }
}

struct Reader<'a> {
    lines: &'a Lines,
    parts: Parts,
}

impl Reader<'_> {
    fn declarations(&mut self, node: &JsonNode) {
        for entry in entries(node) {
            let kind = match entry.name.as_str() {
                "module" => DeclarationKind::Module,
                "variable" => DeclarationKind::Variable,
                "output" => DeclarationKind::Output,
                "terraform" => {
                    self.required_providers(&entry.value);
                    continue;
                }
                _ => continue,
            };
            for block in entries(&entry.value) {
                let arguments = entries(&block.value).into_iter();
                let arguments = arguments.map(|found| (found.name.clone(), setting(&found.value))).collect();
                let (name, at) = (block.name.clone(), block.at);
                self.parts.declarations.push(Declaration { kind, name, at, arguments });
            }
        }
    }

    fn required_providers(&mut self, node: &JsonNode) {
        for block in entries(node).into_iter().filter(|entry| entry.name == "required_providers") {
            for entry in entries(&block.value) {
                self.parts.declarations.push(Declaration {
                    kind: DeclarationKind::RequiredProvider,
                    name: entry.name.clone(),
                    at: entry.at,
                    arguments: [("entry".to_owned(), setting(&entry.value))].into(),
                });
            }
        }
    }

    fn secrets(&mut self, node: &JsonNode, owner: &Owner) {
        for entry in entries(node) {
            let below = owner.below(entry);
            for text in texts(&entry.value) {
                self.secret(text, entry, &below);
            }
            self.secrets(&entry.value, &below);
        }
    }

    fn secret(&mut self, text: &str, entry: &JsonEntry, owner: &Owner) {
        let said = syntax::template_text(text);
        let name = owner.named().unwrap_or(&entry.name);
        let Some(why) = suspicion(Some(name), said.as_deref(), text) else { return };
        let block = owner.block.unwrap_or(entry.at);
        let at = if owner.named().is_some() { block } else { entry.at };
        let (subject, name) = (owner.path.join("."), name.to_owned());
        self.parts.secrets.push(FoundSecret { at, block, subject, name, why });
    }

    /// Finds comments; one is about the block that it stands in, its own line and the one below.
    fn ignores(&mut self, node: &JsonNode, parent: Option<&JsonEntry>) {
        match node {
            JsonNode::Object(found) => {
                for entry in found {
                    match (&entry.value, entry.name.as_str()) {
                        (JsonNode::Text(text), "//") => {
                            let line = self.lines.line(entry.at);
                            let parent = parent.map(|parent| self.lines.line(parent.at));
                            let about = [line, line + 1].into_iter().chain(parent).collect();
                            self.parts.ignores.extend(IgnoreComment::parse(text, line, about));
                        }
                        (value, _) => self.ignores(value, Some(entry)),
                    }
                }
            }
            JsonNode::List(list) => list.iter().for_each(|node| self.ignores(node, parent)),
            _ => {}
        }
    }
}

/// Returns the texts that are a value, or the elements of one.
fn texts(node: &JsonNode) -> Vec<&str> {
    match node {
        JsonNode::Text(text) => vec![text],
        JsonNode::List(list) => list.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
