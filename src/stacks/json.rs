//! Reads facts from the JSON syntax, where a block is an object, or a list of them, keyed
//! by its labels. Begin at [`read`].

use serde_json::{Map, Value};

use super::facts::{BackendBlock, Facts, ModuleBlock, RemoteState};
use super::setting::{Setting, Settings};

/// Adds what a file says to the facts of its folder; a file that does not parse is a problem.
pub fn read(text: &str, file: &str, facts: &mut Facts) {
    match serde_json::from_str(text) {
        Ok(value) => Reader { text, file, facts }.body(&value),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            facts.problems.push(format!("{file}:{line}:{column}: not valid JSON: {}", reason(&error)));
        }
    }
}

/// Returns the parser's words without the place, which stands before them.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.clone(), |end| text[..end].to_owned())
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    facts: &'a mut Facts,
}

impl Reader<'_> {
    fn body(&mut self, body: &Value) {
        for (kind, value) in entries(body) {
            match kind.as_str() {
                "terraform" => self.terraform(value),
                "variable" => self.facts.variables.extend(labels(value)),
                "output" => self.facts.outputs.extend(labels(value)),
                "provider" => self.facts.provider_blocks.extend(labels(value)),
                "module" => entries(value).for_each(|(name, block)| self.module(name, block)),
                "resource" => entries(value).for_each(|(kind, named)| self.resources(kind, named)),
                "ephemeral" => entries(value).for_each(|(kind, named)| self.providers_of(kind, named)),
                "data" => entries(value).for_each(|(kind, named)| self.data(kind, named)),
                "check" => entries(value).for_each(|(_, block)| self.body(block)),
                _ => {}
            }
        }
    }

    fn terraform(&mut self, value: &Value) {
        for (name, value) in entries(value) {
            match name.as_str() {
                "backend" => entries(value).for_each(|(kind, block)| self.backend(kind, block)),
                "cloud" => self.backend("cloud", value),
                "required_providers" => self.facts.required_providers.extend(settings(value)),
                _ => {}
            }
        }
    }

    fn backend(&mut self, kind: &str, block: &Value) {
        let place = self.place(if kind == "cloud" { "cloud" } else { "backend" });
        let (kind, settings) = (kind.to_owned(), settings(block));
        self.facts.backend = Some(BackendBlock { kind, place, settings });
    }

    fn module(&mut self, name: &str, block: &Value) {
        let mut settings = settings(block);
        let source = settings.remove("source");
        let place = self.place(source.as_ref().and_then(Setting::literal).unwrap_or(name));
        let version = settings.remove("version");
        self.facts.add_module(name, ModuleBlock { source, version, place });
    }

    fn resources(&mut self, kind: &str, named: &Value) {
        self.facts.resources.extend(labels(named).map(|name| format!("{kind}.{name}")));
        self.providers_of(kind, named);
    }

    fn providers_of(&mut self, kind: &str, named: &Value) {
        for (_, block) in entries(named) {
            let provider =
                entries(block).find(|(key, _)| *key == "provider").and_then(|(_, value)| value.as_str());
            self.facts.add_provider_of(kind, provider);
        }
    }

    fn data(&mut self, kind: &str, named: &Value) {
        self.providers_of(kind, named);
        if kind != "terraform_remote_state" {
            return;
        }
        for (name, block) in entries(named) {
            let mut settings = settings(block);
            let state = RemoteState {
                name: name.clone(),
                place: self.place(name),
                kind: settings.remove("backend"),
                config: settings.remove("config"),
                workspace: settings.remove("workspace"),
            };
            self.facts.remote_states.push(state);
        }
    }

    /// Returns file and line of a quoted text: the parser keeps no places.
    fn place(&self, quoted: &str) -> String {
        let end = self.text.find(&format!("\"{quoted}\"")).unwrap_or(0);
        let before = self.text.get(..end).unwrap_or_default();
        format!("{}:{}", self.file, before.matches('\n').count() + 1)
    }
}

/// Returns the entries of an object, or of every object in a list; comments are left out.
fn entries(value: &Value) -> Box<dyn Iterator<Item = (&String, &Value)> + '_> {
    match value {
        Value::Object(map) => Box::new(visible(map)),
        Value::Array(list) => Box::new(list.iter().filter_map(Value::as_object).flat_map(visible)),
        _ => Box::new(std::iter::empty()),
    }
}

fn visible(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    map.iter().filter(|(name, _)| *name != "//")
}

fn labels(value: &Value) -> impl Iterator<Item = String> {
    entries(value).map(|(name, _)| name.clone())
}

fn settings(value: &Value) -> Settings {
    entries(value).filter_map(|(name, value)| Some((name.clone(), setting(value)?))).collect()
}

fn setting(value: &Value) -> Option<Setting> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => Setting::Literal(value.to_string()),
        Value::Number(value) => Setting::Literal(value.to_string()),
        Value::String(text) if text.contains("${") || text.contains("%{") => {
            Setting::Expression(format!("\"{text}\""))
        }
        Value::String(text) => Setting::Literal(text.clone()),
        Value::Object(_) => Setting::Map(settings(value)),
        // A nested block may be written as a list of one.
        Value::Array(list) => match list.as_slice() {
            [only @ Value::Object(_)] => Setting::Map(settings(only)),
            _ => Setting::Expression(value.to_string()),
        },
    })
}
