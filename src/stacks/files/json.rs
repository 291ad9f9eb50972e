//! Reads facts from the JSON syntax, where a block is an object, or a list of them, keyed
//! by its labels. Begin at [`read`].

use super::facts::{BackendBlock, Facts, ModuleBlock, RemoteState};
use crate::syntax::{Fault, JsonEntry as Entry, JsonNode, entries, line_and_column, read_json, settings};

/// Adds what a file says to the facts of its folder; returns where it makes no sense.
pub fn read(text: &str, file: &str, facts: &mut Facts) -> Option<Fault> {
    let (node, fault) = read_json(text);
    Reader { text, file, facts }.body(&node);
    fault
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    facts: &'a mut Facts,
}

impl Reader<'_> {
    fn body(&mut self, body: &JsonNode) {
        for Entry { name, value, .. } in entries(body) {
            match name.as_str() {
                "terraform" => self.terraform(value),
                "variable" => entries(value).into_iter().for_each(|entry| self.variable(entry)),
                "output" => self.facts.outputs.extend(labels(value)),
                "provider" => self.facts.provider_blocks.extend(labels(value)),
                "module" => entries(value).into_iter().for_each(|entry| self.module(entry)),
                "resource" => entries(value).into_iter().for_each(|entry| self.resources(entry)),
                "ephemeral" => entries(value).into_iter().for_each(|entry| self.providers_of(entry)),
                "data" => entries(value).into_iter().for_each(|entry| self.data(entry)),
                "check" => entries(value).into_iter().for_each(|entry| self.body(&entry.value)),
                _ => {}
            }
        }
    }

    fn variable(&mut self, block: &Entry) {
        let has_default = entries(&block.value).iter().any(|entry| entry.name == "default");
        self.facts.add_variable(&block.name, has_default);
    }

    fn terraform(&mut self, value: &JsonNode) {
        for entry in entries(value) {
            match entry.name.as_str() {
                "backend" => entries(&entry.value).into_iter().for_each(|block| self.backend(block)),
                "cloud" => self.backend(entry),
                "required_providers" => self.facts.required_providers.extend(settings(&entry.value)),
                _ => {}
            }
        }
    }

    fn backend(&mut self, block: &Entry) {
        let (kind, place, settings) = (block.name.clone(), self.place(block.at), settings(&block.value));
        self.facts.backend = Some(BackendBlock { kind, place, settings });
    }

    fn module(&mut self, block: &Entry) {
        let mut settings = settings(&block.value);
        let source_at = entries(&block.value).into_iter().find(|entry| entry.name == "source");
        let place = self.place(source_at.map_or(block.at, |source| source.at));
        let (source, version) = (settings.remove("source"), settings.remove("version"));
        self.facts.add_module(&block.name, ModuleBlock { source, version, place });
    }

    fn resources(&mut self, kind: &Entry) {
        self.facts.resources.extend(labels(&kind.value).map(|name| format!("{}.{name}", kind.name)));
        self.providers_of(kind);
    }

    fn providers_of(&mut self, kind: &Entry) {
        for block in entries(&kind.value) {
            let provider = entries(&block.value).into_iter().find(|entry| entry.name == "provider");
            let provider = provider.and_then(|entry| match &entry.value {
                JsonNode::Text(text) => Some(text.as_str()),
                _ => None,
            });
            self.facts.add_provider_of(&kind.name, provider);
        }
    }

    fn data(&mut self, kind: &Entry) {
        self.providers_of(kind);
        if kind.name != "terraform_remote_state" {
            return;
        }
        for block in entries(&kind.value) {
            let mut settings = settings(&block.value);
            let state = RemoteState {
                name: block.name.clone(),
                place: self.place(block.at),
                kind: settings.remove("backend"),
                config: settings.remove("config"),
                workspace: settings.remove("workspace"),
            };
            self.facts.remote_states.push(state);
        }
    }

    fn place(&self, at: usize) -> String {
        format!("{}:{}", self.file, line_and_column(self.text, at).0)
    }
}

fn labels(value: &JsonNode) -> impl Iterator<Item = String> {
    entries(value).into_iter().map(|entry| entry.name.clone())
}
