//! Reads facts from the native syntax. Only blocks at the top level matter, so bodies of
//! resources are parsed but not looked into. Begin at [`read`].

use hcl_edit::Span;
use hcl_edit::expr::{Expression, Object, ObjectKey};
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body};

use super::facts::{BackendBlock, Facts, ModuleBlock, RemoteState};
use super::setting::{Setting, Settings};

/// Adds what a file says to the facts of its folder; a file that does not parse is a problem.
pub fn read(text: &str, file: &str, facts: &mut Facts) {
    match hcl_edit::parser::parse_body(text) {
        Ok(body) => Reader { text, file, facts }.body(&body),
        Err(error) => {
            let (line, column) = (error.location().line(), error.location().column());
            facts.problems.push(format!("{file}:{line}:{column}: not valid HCL: {}", error.message()));
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    facts: &'a mut Facts,
}

impl Reader<'_> {
    fn body(&mut self, body: &Body) {
        for block in body.blocks() {
            let labels = block.labels.iter().map(BlockLabel::as_str).collect::<Vec<_>>();
            match (block.ident.as_str(), labels.as_slice()) {
                ("terraform", []) => self.terraform(&block.body),
                ("variable", [name]) => _ = self.facts.variables.insert((*name).to_owned()),
                ("output", [name]) => _ = self.facts.outputs.insert((*name).to_owned()),
                ("provider", [name]) => _ = self.facts.provider_blocks.insert((*name).to_owned()),
                ("module", [name]) => self.module(name, block),
                ("resource", [kind, name]) => {
                    self.facts.resources.insert(format!("{kind}.{name}"));
                    self.provider_of(kind, block);
                }
                ("ephemeral", [kind, _]) => self.provider_of(kind, block),
                ("data", [kind, name]) => self.data(kind, name, block),
                // A check may hold a data source of its own.
                ("check", [_]) => self.body(&block.body),
                _ => {}
            }
        }
    }

    fn terraform(&mut self, body: &Body) {
        for block in body.blocks() {
            match (block.ident.as_str(), block.labels.first()) {
                ("backend", Some(kind)) => self.backend(kind.as_str(), block),
                ("cloud", None) => self.backend("cloud", block),
                ("required_providers", None) => self.facts.required_providers.extend(settings(&block.body)),
                _ => {}
            }
        }
    }

    fn backend(&mut self, kind: &str, block: &Block) {
        let (kind, place) = (kind.to_owned(), self.place(block.span()));
        self.facts.backend = Some(BackendBlock { kind, place, settings: settings(&block.body) });
    }

    fn module(&mut self, name: &str, block: &Block) {
        let source = block.body.get_attribute("source");
        let place = self.place(source.and_then(Span::span).or_else(|| block.span()));
        let source = source.and_then(attribute);
        let version = block.body.get_attribute("version").and_then(attribute);
        self.facts.add_module(name, ModuleBlock { source, version, place });
    }

    fn provider_of(&mut self, kind: &str, block: &Block) {
        let provider = block.body.get_attribute("provider").and_then(attribute);
        let provider = provider.map(|provider| match provider {
            Setting::Literal(text) | Setting::Expression(text) => text,
            Setting::Map(_) => String::new(),
        });
        self.facts.add_provider_of(kind, provider.as_deref());
    }

    fn data(&mut self, kind: &str, name: &str, block: &Block) {
        self.provider_of(kind, block);
        if kind != "terraform_remote_state" {
            return;
        }
        let value = |name: &str| block.body.get_attribute(name).and_then(attribute);
        let state = RemoteState {
            name: name.to_owned(),
            place: self.place(block.span()),
            kind: value("backend"),
            config: value("config"),
            workspace: value("workspace"),
        };
        self.facts.remote_states.push(state);
    }

    fn place(&self, span: Option<std::ops::Range<usize>>) -> String {
        let before = span.and_then(|span| self.text.get(..span.start)).unwrap_or_default();
        format!("{}:{}", self.file, before.matches('\n').count() + 1)
    }
}

/// Returns attributes and nested blocks by name.
fn settings(body: &Body) -> Settings {
    let attributes = body.attributes().filter_map(|found| Some((found.key.to_string(), attribute(found)?)));
    let blocks = body.blocks().map(|block| (block.ident.to_string(), Setting::Map(settings(&block.body))));
    attributes.chain(blocks).map(|(name, value)| (name.trim().to_owned(), value)).collect()
}

fn attribute(attribute: &Attribute) -> Option<Setting> {
    setting(&attribute.value)
}

/// Returns the value of an expression as far as it is literal; `null` is no value.
fn setting(expression: &Expression) -> Option<Setting> {
    Some(match expression {
        Expression::Null(_) => return None,
        Expression::Bool(value) => Setting::Literal(value.value().to_string()),
        Expression::Number(value) => Setting::Literal(value.value().to_string()),
        Expression::String(value) => Setting::Literal(value.value().clone()),
        Expression::Object(object) => Setting::Map(object_settings(object)),
        Expression::Parenthesis(inner) => return setting(inner.inner()),
        other => Setting::Expression(other.to_string().trim().to_owned()),
    })
}

fn object_settings(object: &Object) -> Settings {
    let entries = object.iter().filter_map(|(key, value)| Some((key_text(key), setting(value.expr())?)));
    entries.collect()
}

fn key_text(key: &ObjectKey) -> String {
    match key {
        ObjectKey::Ident(name) => name.as_str().to_owned(),
        ObjectKey::Expression(Expression::String(text)) => text.value().clone(),
        ObjectKey::Expression(other) => other.to_string().trim().to_owned(),
    }
}
