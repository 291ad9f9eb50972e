//! Holds rendered blocks against the schema of bpg/proxmox: names, kinds, what is required, what
//! may stand how often, and the types of literals.
//!
//! `tests/data/bpg-proxmox-0.111.json` is cut down from what the provider tells about itself: a
//! text is an attribute's type with `!` (required), `?` (may be set) or `-` (may only be read), an
//! object is a block, `@max` how often it may stand. What is deprecated is left out.

use hcl_edit::expr::Expression;
use hcl_edit::structure::{Block, BlockLabel, Body, Structure};
use serde_json::{Map, Value};

use super::tree::Folder;

/// What OpenTofu itself allows in a resource.
const OWN: [&str; 5] = ["for_each", "count", "depends_on", "provider", "lifecycle"];

/// Returns the provider's schema.
pub fn proxmox() -> Value {
    serde_json::from_str(include_str!("../data/bpg-proxmox-0.111.json")).expect("JSON")
}

/// Returns what the provider would refuse in a folder, and how many of its blocks were looked at.
pub fn check(folder: &Folder, schema: &Value) -> (Vec<String>, usize) {
    let mut checker = Checker { faults: Vec::new(), seen: 0 };
    for (file, block) in folder.blocks() {
        let labels: Vec<&str> = block.labels.iter().map(BlockLabel::as_str).collect();
        match (block.ident.as_str(), labels.as_slice()) {
            ("provider", ["proxmox"]) => checker.block(&block.body, &schema["provider"], file),
            ("resource", [kind, name]) if kind.starts_with("proxmox_") => {
                let place = format!("{file}: {kind}.{name}");
                checker.block(&block.body, &schema["resources"][kind], &place);
            }
            ("data", [kind, _]) if kind.starts_with("proxmox_") => {
                checker.faults.push(format!("{file}: the schema of data.{kind} is not known"));
            }
            _ => {}
        }
    }
    (checker.faults, checker.seen)
}

struct Checker {
    faults: Vec<String>,
    seen: usize,
}

impl Checker {
    fn block(&mut self, body: &Body, schema: &Value, place: &str) {
        let Some(schema) = schema.as_object() else {
            return self.faults.push(format!("{place}: no such type"));
        };
        self.seen += 1;
        for structure in body {
            match structure {
                Structure::Attribute(attribute) if OWN.contains(&attribute.key.as_str()) => {}
                Structure::Attribute(attribute) => {
                    self.attribute(attribute.key.as_str(), &attribute.value, schema, place);
                }
                Structure::Block(block) if block.ident.as_str() == "dynamic" => {
                    self.dynamic(block, schema, place);
                }
                Structure::Block(block) if OWN.contains(&block.ident.as_str()) => {}
                Structure::Block(block) => {
                    self.nested(block.ident.as_str(), &block.body, schema, place);
                }
            }
        }
        self.required(body, schema, place);
        self.repeated(body, schema, place);
    }

    fn attribute(&mut self, name: &str, value: &Expression, schema: &Map<String, Value>, place: &str) {
        let place = format!("{place}.{name}");
        match schema.get(name).and_then(Value::as_str) {
            None => self.faults.push(format!("{place}: no such attribute")),
            Some(kind) if kind.ends_with('-') => self.faults.push(format!("{place}: can only be read")),
            Some(kind) => {
                if let Some(found) = literal(value).filter(|found| !fits(found, kind)) {
                    self.faults.push(format!("{place}: {kind} wanted, {found} found"));
                }
            }
        }
    }

    fn nested(&mut self, name: &str, body: &Body, schema: &Map<String, Value>, place: &str) {
        let place = format!("{place}.{name}");
        match schema.get(name) {
            Some(nested @ Value::Object(_)) => self.block(body, nested, &place),
            _ => self.faults.push(format!("{place}: no such block")),
        }
    }

    fn dynamic(&mut self, block: &Block, schema: &Map<String, Value>, place: &str) {
        let name = block.labels.first().map_or("", BlockLabel::as_str);
        match block.body.get_blocks("content").next() {
            Some(content) => self.nested(name, &content.body, schema, place),
            None => self.faults.push(format!("{place}: dynamic `{name}` has no content")),
        }
    }

    fn required(&mut self, body: &Body, schema: &Map<String, Value>, place: &str) {
        for (name, kind) in schema {
            let is_required = kind.as_str().is_some_and(|kind| kind.ends_with('!'));
            if is_required && body.get_attribute(name).is_none() {
                self.faults.push(format!("{place}.{name}: is required"));
            }
        }
    }

    fn repeated(&mut self, body: &Body, schema: &Map<String, Value>, place: &str) {
        for (name, nested) in schema {
            let max = nested.get("@max").and_then(Value::as_u64).and_then(|max| usize::try_from(max).ok());
            let found = body.get_blocks(name).count();
            if max.is_some_and(|max| found > max) {
                self.faults.push(format!("{place}.{name}: stands {found} times"));
            }
        }
    }
}

/// Returns the kind of a value that is written out; what is computed may be anything.
fn literal(value: &Expression) -> Option<&'static str> {
    match value {
        Expression::Bool(_) => Some("bool"),
        Expression::Number(_) => Some("number"),
        Expression::String(_) | Expression::StringTemplate(_) | Expression::HeredocTemplate(_) => {
            Some("string")
        }
        Expression::Array(_) => Some("list"),
        Expression::Object(_) => Some("map"),
        _ => None,
    }
}

fn fits(found: &str, kind: &str) -> bool {
    let kind = kind.trim_end_matches(['!', '?', '-']);
    kind == found || kind.starts_with(&format!("{found}(")) || found == "list" && kind.starts_with("set(")
}
