//! Where a file says which providers and modules it wants, in both forms of the language. Text in, entries
//! with their places out. Begin at [`read`].

use std::ops::Range;

use crate::syntax;
use crate::syntax::{Block, Body, Fault};
use crate::syntax::{JsonEntry, JsonNode};

/// What an entry is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum EntryKind {
    /// One of `required_providers`.
    RequiredProvider,
    /// A `provider` block, which may have a version of its own in old files.
    ProviderBlock,
    /// A `module` block.
    Module,
    /// `required_version`.
    Tofu,
}

/// An entry of a file.
#[derive(Clone, Debug)]
pub(super) struct ConstraintEntry {
    pub kind: EntryKind,
    /// The local name; empty where there is only one.
    pub name: String,
    pub source: Option<Said>,
    pub version: Option<Said>,
    /// Where it begins.
    pub at: usize,
    /// Whether it is an expression of which nobody knows what it holds.
    pub is_unclear: bool,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// What it says, if it is a literal text.
    pub text: Option<String>,
    pub span: Range<usize>,
}

/// Reads a file, and says where it makes no sense.
pub(super) fn read(text: &str, is_json: bool) -> (Vec<ConstraintEntry>, Option<Fault>) {
    if is_json {
        let (node, fault) = syntax::read_json(text);
        return (of_node(&node), fault);
    }
    let document = syntax::read(text);
    (of_body(text, &document.body), document.fault)
}

fn of_body(text: &str, body: &Body<'_>) -> Vec<ConstraintEntry> {
    let of_block = |block: &Block<'_>| match (block.kind, block.labels.as_slice()) {
        ("terraform", []) => of_terraform(text, &block.body),
        ("module", [name]) => vec![of_labelled(text, EntryKind::Module, name, block)],
        ("provider", [name]) => vec![of_labelled(text, EntryKind::ProviderBlock, name, block)],
        _ => Vec::new(),
    };
    body.blocks.iter().flat_map(of_block).collect()
}

fn of_labelled(text: &str, kind: EntryKind, name: &str, block: &Block<'_>) -> ConstraintEntry {
    let said = |name: &str| block.body.attribute(name).and_then(|found| said(text, &found.value));
    let (source, version) = (said("source"), said("version"));
    ConstraintEntry { kind, name: name.to_owned(), source, version, at: block.span.start, is_unclear: false }
}

fn of_terraform(text: &str, body: &Body<'_>) -> Vec<ConstraintEntry> {
    let mut entries: Vec<ConstraintEntry> = body
        .blocks_of("required_providers")
        .flat_map(|block| &block.body.attributes)
        .map(|found| required(text, found.name, found.start, &found.value))
        .collect();
    if let Some(found) = body.attribute("required_version") {
        let version = said(text, &found.value);
        entries.push(ConstraintEntry { version, ..ConstraintEntry::new(EntryKind::Tofu, "", found.start) });
    }
    entries
}

/// An entry is an object, or in old files only a version.
fn required(text: &str, name: &str, at: usize, span: &Range<usize>) -> ConstraintEntry {
    let entry = ConstraintEntry::new(EntryKind::RequiredProvider, name, at);
    let Some(fields) = syntax::object_entries(text, span) else {
        let version = said(text, span);
        let is_unclear = version.as_ref().is_some_and(|said| said.text.is_none());
        return ConstraintEntry { version, is_unclear, ..entry };
    };
    // Of two of one name the last one counts.
    let field = |name: &str| {
        let found = fields.iter().rev().find(|(field, _)| field == name);
        found.and_then(|(_, span)| said(text, span))
    };
    ConstraintEntry { source: field("source"), version: field("version"), ..entry }
}

/// Returns what stands at a place; `null` is nothing.
fn said(text: &str, span: &Range<usize>) -> Option<Said> {
    let value = syntax::value(text, span)?;
    Some(Said { text: value.literal().map(str::to_owned), span: span.clone() })
}

impl ConstraintEntry {
    fn new(kind: EntryKind, name: &str, at: usize) -> Self {
        Self { kind, name: name.to_owned(), source: None, version: None, at, is_unclear: false }
    }
}

fn of_node(node: &JsonNode) -> Vec<ConstraintEntry> {
    let mut entries = Vec::new();
    for block in fields(node) {
        match block.name.as_str() {
            "terraform" => fields(&block.value).into_iter().for_each(|part| match part.name.as_str() {
                "required_providers" => entries.extend(fields(&part.value).into_iter().map(required_in_json)),
                "required_version" => {
                    let version = said_in_json(part);
                    entries.push(ConstraintEntry {
                        version,
                        ..ConstraintEntry::new(EntryKind::Tofu, "", part.at)
                    });
                }
                _ => {}
            }),
            "module" => entries.extend(labelled_in_json(EntryKind::Module, &block.value)),
            "provider" => entries.extend(labelled_in_json(EntryKind::ProviderBlock, &block.value)),
            _ => {}
        }
    }
    entries
}

fn labelled_in_json(kind: EntryKind, node: &JsonNode) -> Vec<ConstraintEntry> {
    let of_label = |label: &JsonEntry| {
        let entry = ConstraintEntry::new(kind, &label.name, label.at);
        ConstraintEntry {
            source: field_in_json(label, "source"),
            version: field_in_json(label, "version"),
            ..entry
        }
    };
    fields(node).into_iter().map(of_label).collect()
}

fn required_in_json(entry: &JsonEntry) -> ConstraintEntry {
    let found = ConstraintEntry::new(EntryKind::RequiredProvider, &entry.name, entry.at);
    match entry.value {
        JsonNode::Text(_) => ConstraintEntry { version: said_in_json(entry), ..found },
        _ => ConstraintEntry {
            source: field_in_json(entry, "source"),
            version: field_in_json(entry, "version"),
            ..found
        },
    }
}

fn field_in_json(entry: &JsonEntry, name: &str) -> Option<Said> {
    fields(&entry.value).into_iter().rev().find(|field| field.name == name).and_then(said_in_json)
}

fn said_in_json(entry: &JsonEntry) -> Option<Said> {
    let text = match &entry.value {
        JsonNode::Null => return None,
        JsonNode::Text(text) if !text.contains("${") && !text.contains("%{") => Some(text.clone()),
        _ => None,
    };
    Some(Said { text, span: entry.span.clone() })
}

/// Returns the entries of an object, or of every object in a list; comments are left out.
fn fields(node: &JsonNode) -> Vec<&JsonEntry> {
    match node {
        JsonNode::Object(found) => found.iter().filter(|entry| entry.name != "//").collect(),
        JsonNode::List(list) => list.iter().flat_map(fields).collect(),
        JsonNode::Null | JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::Text(_) | JsonNode::Deep => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVE: &str = r#"
terraform {
  required_version = ">= 1.8"
  required_providers {
    aws = { source = "hashicorp/aws", version = "~> 5.1" } # why
    old = "~> 1.0"
    odd = merge(local.a, {})
  }
}
module "vm" {
  source  = "acme/vm/proxmox//sub"
  version = "1.2.3"
}
provider "aws" {
  version = "~> 5.0"
}
"#;

    const JSON: &str = r#"{
  "terraform": [{"required_version": ">= 1.8", "required_providers": {
    "aws": {"source": "hashicorp/aws", "version": "~> 5.1"}, "old": "~> 1.0"}}],
  "module": {"vm": {"source": "acme/vm/proxmox//sub", "version": "1.2.3"}},
  "provider": {"aws": [{"version": "~> 5.0"}]}
}"#;

    fn said(text: &str, is_json: bool) -> Vec<String> {
        let (mut entries, fault) = read(text, is_json);
        assert_eq!(fault, None);
        entries.sort_by_key(|entry| (entry.kind, entry.name.clone()));
        let shown = |said: &Option<Said>| {
            said.as_ref().map(|said| text[said.span.clone()].to_owned()).unwrap_or_default()
        };
        entries
            .iter()
            .map(|entry| format!("{} {} {}", entry.name, shown(&entry.source), shown(&entry.version)))
            .collect()
    }

    #[test]
    fn both_forms_tell_the_same_places() {
        let mut native = said(NATIVE, false);

        assert_eq!(native.remove(1), "odd  merge(local.a, {})");
        assert_eq!(native, said(JSON, true));
        assert_eq!(
            native,
            [
                "aws \"hashicorp/aws\" \"~> 5.1\"",
                "old  \"~> 1.0\"",
                "aws  \"~> 5.0\"",
                "vm \"acme/vm/proxmox//sub\" \"1.2.3\"",
                "  \">= 1.8\""
            ]
        );
    }

    #[test]
    fn what_is_filled_in_is_no_literal() {
        let (entries, _) = read("module \"a\" {\n  source = \"${var.x}\"\n  version = var.v\n}\n", false);

        assert!(entries[0].source.as_ref().unwrap().text.is_none());
        assert!(entries[0].version.as_ref().unwrap().text.is_none());
    }
}
