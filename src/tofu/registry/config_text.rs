//! The two forms of OpenTofu's own settings as one: named sections with texts in them. Begin at [`read`].

use std::collections::BTreeMap;
use std::ops::Range;

use crate::syntax;
use crate::syntax::JsonNode;
use crate::syntax::{Body, Fault};
use crate::syntax::{Setting, Settings};

/// A part of the settings: `credentials "example.com" { token = "…" }` is a section in a section.
#[derive(Default)]
pub(super) struct Section {
    /// Its name, or label.
    pub name: String,
    /// Literal texts by name; of a list all of them.
    pub texts: BTreeMap<String, Vec<String>>,
    /// What stands in it, in its order.
    pub sections: Vec<Self>,
}

impl Section {
    /// Returns the sections of a name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.sections.iter().filter(move |section| section.name == name)
    }

    /// Returns a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name)?.first().map(String::as_str)
    }

    /// Returns the texts of a list.
    pub fn list(&self, name: &str) -> &[String] {
        self.texts.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Reads a file of settings; the form shows in its first letter.
pub(super) fn read(text: &str) -> Result<Section, Fault> {
    if text.trim_start().starts_with('{') {
        let (node, fault) = syntax::read_json(text);
        return fault.map_or_else(|| Ok(of_node("", &node)), Err);
    }
    let document = syntax::read(text);
    document.fault.map_or_else(|| Ok(of_body(String::new(), text, &document.body)), Err)
}

fn of_body(name: String, text: &str, body: &Body<'_>) -> Section {
    let mut section = Section { name, ..Section::default() };
    for attribute in &body.attributes {
        match syntax::value(text, &attribute.value) {
            Some(Setting::Map(map)) => section.sections.push(of_map(attribute.name, map)),
            Some(_) => _ = section.texts.insert(attribute.name.to_owned(), texts(text, &attribute.value)),
            None => {}
        }
    }
    for block in &body.blocks {
        let names: Vec<&str> =
            std::iter::once(block.kind).chain(block.labels.iter().map(AsRef::as_ref)).collect();
        let innermost = names.last().copied().unwrap_or_default();
        let inner = of_body(innermost.to_owned(), text, &block.body);
        let outer = names.iter().rev().skip(1);
        section.sections.push(outer.fold(inner, |inner, name| Section {
            name: (*name).to_owned(),
            sections: vec![inner],
            ..Section::default()
        }));
    }
    section
}

fn texts(text: &str, span: &Range<usize>) -> Vec<String> {
    match syntax::value(text, span) {
        Some(Setting::Literal(literal)) => vec![literal],
        _ => syntax::literals(text, span),
    }
}

fn of_map(name: &str, map: Settings) -> Section {
    let texts = map.into_iter().filter_map(|(name, value)| Some((name, vec![value.literal()?.to_owned()])));
    Section { name: name.to_owned(), texts: texts.collect(), sections: Vec::new() }
}

fn of_node(name: &str, node: &JsonNode) -> Section {
    let mut section = Section { name: name.to_owned(), ..Section::default() };
    take_node(&mut section, node);
    section
}

fn take_node(section: &mut Section, node: &JsonNode) {
    match node {
        JsonNode::Object(entries) => entries.iter().for_each(|entry| match &entry.value {
            JsonNode::Object(_) => section.sections.push(of_node(&entry.name, &entry.value)),
            JsonNode::List(nodes) if nodes.iter().any(|node| matches!(node, JsonNode::Object(_))) => {
                section.sections.push(of_node(&entry.name, &entry.value));
            }
            other => _ = section.texts.insert(entry.name.clone(), texts_of(other)),
        }),
        // A block may be written as a list of one.
        JsonNode::List(nodes) => nodes.iter().for_each(|node| take_node(section, node)),
        JsonNode::Null | JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::Text(_) | JsonNode::Deep => {}
    }
}

fn texts_of(node: &JsonNode) -> Vec<String> {
    match node {
        JsonNode::Text(text) | JsonNode::Number(text) => vec![text.clone()],
        JsonNode::Bool(value) => vec![value.to_string()],
        JsonNode::List(nodes) => nodes.iter().flat_map(texts_of).collect(),
        JsonNode::Null | JsonNode::Object(_) | JsonNode::Deep => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NATIVE: &str = r#"
# where providers come from
provider_installation {
  filesystem_mirror {
    path    = "/m"
    include = ["a/b", "h.example/*/*"]
  }
  direct {}
}
credentials "h.example" { token = "t" }
host "h.example" {
  services = { "providers.v1" = "https://h.example/p/" }
}
"#;

    const JSON: &str = r#"{
"provider_installation": [{"filesystem_mirror": {"path": "/m", "include": ["a/b", "h.example/*/*"]}, "direct": {}}],
"credentials": {"h.example": {"token": "t"}},
"host": {"h.example": {"services": {"providers.v1": "https://h.example/p/"}}}
}"#;

    #[test]
    fn both_forms_say_the_same() {
        for text in [NATIVE, JSON] {
            let read = read(text).ok().unwrap();

            let methods = read.all("provider_installation").flat_map(|one| &one.sections);
            let methods: Vec<_> =
                methods.map(|method| (method.name.as_str(), method.list("include"))).collect();
            assert_eq!(
                methods[0],
                ("filesystem_mirror", &["a/b".to_owned(), "h.example/*/*".to_owned()][..])
            );
            assert_eq!(methods[1].0, "direct");
            let token = read.all("credentials").flat_map(|one| one.all("h.example")).next().unwrap();
            assert_eq!(token.text("token"), Some("t"));
            let host = read.all("host").flat_map(|one| one.all("h.example")).next().unwrap();
            let services = host.all("services").next().unwrap();
            assert_eq!(services.text("providers.v1"), Some("https://h.example/p/"));
        }
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert!(read("credentials {").is_err() && read("{\"a\": ").is_err());
        assert!(read("").is_ok());
    }
}
