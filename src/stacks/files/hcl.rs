//! Reads facts from the native syntax. Only blocks at the top level matter, so bodies of
//! resources are not looked into. Begin at [`read`].

use super::facts::{BackendBlock, Facts, ModuleBlock, RemoteState};
use crate::syntax;
use crate::syntax::{Attribute, Block, Body, Fault, Setting, Settings};

/// Adds what a file says to the facts of its folder; returns where it makes no sense.
pub fn read(text: &str, file: &str, facts: &mut Facts) -> Option<Fault> {
    let document = syntax::read(text);
    Reader { text, file, facts }.body(&document.body);
    document.fault
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    facts: &'a mut Facts,
}

impl Reader<'_> {
    fn body(&mut self, body: &Body<'_>) {
        for block in &body.blocks {
            let labels = block.labels.iter().map(AsRef::as_ref).collect::<Vec<&str>>();
            match (block.kind, labels.as_slice()) {
                ("terraform", []) => self.terraform(&block.body),
                ("variable", [name]) => {
                    self.facts.add_variable(name, block.body.attribute("default").is_some());
                }
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

    fn terraform(&mut self, body: &Body<'_>) {
        for block in &body.blocks {
            match (block.kind, block.labels.first()) {
                ("backend", Some(kind)) => self.backend(kind, block),
                ("cloud", None) => self.backend("cloud", block),
                ("required_providers", None) => {
                    let required = self.settings(&block.body);
                    self.facts.required_providers.extend(required);
                }
                _ => {}
            }
        }
    }

    fn backend(&mut self, kind: &str, block: &Block<'_>) {
        let (kind, place, settings) =
            (kind.to_owned(), self.place(block.span.start), self.settings(&block.body));
        self.facts.backend = Some(BackendBlock { kind, place, settings });
    }

    fn module(&mut self, name: &str, block: &Block<'_>) {
        let place =
            self.place(block.body.attribute("source").map_or(block.span.start, |source| source.start));
        let (source, version) = (self.value_of(block, "source"), self.value_of(block, "version"));
        self.facts.add_module(name, ModuleBlock { source, version, place });
    }

    fn provider_of(&mut self, kind: &str, block: &Block<'_>) {
        let provider = self.value_of(block, "provider").map(|provider| match provider {
            Setting::Literal(text) | Setting::Expression(text) => text,
            Setting::Map(_) => String::new(),
        });
        self.facts.add_provider_of(kind, provider.as_deref());
    }

    fn data(&mut self, kind: &str, name: &str, block: &Block<'_>) {
        self.provider_of(kind, block);
        if kind != "terraform_remote_state" {
            return;
        }
        let state = RemoteState {
            name: name.to_owned(),
            place: self.place(block.span.start),
            kind: self.value_of(block, "backend"),
            config: self.value_of(block, "config"),
            workspace: self.value_of(block, "workspace"),
        };
        self.facts.remote_states.push(state);
    }

    fn value_of(&self, block: &Block<'_>, name: &str) -> Option<Setting> {
        self.value(block.body.attribute(name)?)
    }

    fn value(&self, attribute: &Attribute<'_>) -> Option<Setting> {
        syntax::value(self.text, &attribute.value)
    }

    /// Returns attributes and nested blocks by name.
    fn settings(&self, body: &Body<'_>) -> Settings {
        let attributes =
            body.attributes.iter().filter_map(|found| Some((found.name.to_owned(), self.value(found)?)));
        let blocks =
            body.blocks.iter().map(|block| (block.kind.to_owned(), Setting::Map(self.settings(&block.body))));
        attributes.chain(blocks).collect()
    }

    fn place(&self, at: usize) -> String {
        format!("{}:{}", self.file, syntax::line_and_column(self.text, at).0)
    }
}
