//! Which keys of the data templates read: of the data itself, of any map, and of the machines in
//! `nodes`.
//!
//! Found by reading, not by rendering: what stands in a branch that is not taken is read all the
//! same. A name is followed to what it is bound to (`for`, `set`, `with`), so that
//! `proxmox_vm_defaults.memory` does not count as the `memory` of a machine; where that cannot be
//! failure, the key counts as read. Begin at [`ReadKeys::of`].

mod names;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use self::names::{Meaning, Names, begins, steps};
use super::rewrite::{Kind, Token, Tokens, tags_in};
use crate::model::{Derivation, Formula};
use crate::render::settings::Marks;

/// What shows or goes through all keys of a map.
const WHOLE: &[&str] =
    &["tojson", "yaml", "hcl", "pprint", "string", "dictsort", "items", "dict", "values", "keys"];
/// How Python reads a key: `data.get("key")`, `node["key"]`.
static PYTHON_KEY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?:\.get\(\s*|\[\s*)["'](\w+)["']"#).ok());

/// The keys that are read.
#[derive(Debug, Default)]
pub struct ReadKeys {
    names: BTreeSet<String>,
    attributes: BTreeSet<String>,
    of_nodes: BTreeSet<String>,
    /// Whether a machine is shown whole.
    whole_nodes: bool,
}

/// What reads the data.
#[derive(Debug)]
pub struct Readers<'a> {
    /// The texts of templates, those that others include among them.
    pub templates: Vec<&'a str>,
    /// What marks their tags.
    pub marks: &'a Marks,
    /// The project's own derived values.
    pub derivations: &'a [Derivation],
    /// The texts of Python plugins.
    pub plugins: Vec<String>,
    /// Names of the data that hold something else than machines.
    pub others: Vec<&'a str>,
}

impl ReadKeys {
    /// Returns the keys that are read.
    pub fn of(readers: &Readers<'_>) -> Self {
        let mut read = Self::default();
        let templates: Vec<Vec<Tokens<'_>>> =
            readers.templates.iter().map(|text| tags_in(text, readers.marks)).collect();
        let expressions: Vec<(&str, &str)> = readers.derivations.iter().flat_map(expressions_of).collect();
        let derived: Vec<(&str, Tokens<'_>)> =
            expressions.iter().filter_map(|(name, text)| Some((*name, words(text)?))).collect();
        let mut project = Names::of_project(readers);
        derived.iter().for_each(|(name, tokens)| project.bind(name, &tokens.list));
        let shared = templates.iter().fold(project.inner(), |names, tags| names.with(tags));
        derived.iter().for_each(|(_, tokens)| read.add(tokens, &project));
        for tags in &templates {
            let names = shared.inner().with(tags);
            tags.iter().for_each(|tokens| read.add(tokens, &names));
        }
        readers.plugins.iter().for_each(|text| read.add_python(text));
        read
    }

    /// Returns whether a key of the data itself is read.
    pub fn has(&self, key: &str) -> bool {
        self.names.contains(key)
    }

    /// Returns whether a key of some map is read.
    pub fn has_attribute(&self, key: &str) -> bool {
        self.attributes.contains(key)
    }

    /// Returns whether a key of a machine is read.
    pub fn has_of_node(&self, key: &str) -> bool {
        self.whole_nodes || self.of_nodes.contains(key)
    }

    fn add(&mut self, tokens: &Tokens<'_>, names: &Names<'_>) {
        self.names.extend(tokens.names().map(str::to_owned));
        let list = tokens.list.as_slice();
        let mut of_nodes = false;
        for at in (0..list.len()).filter(|at| begins(list, *at)) {
            let meaning = names.meaning(list[at].text);
            of_nodes |= meaning > Meaning::Other;
            let steps = steps(&list[at + 1..]);
            self.attributes.extend(steps.iter().map(|step| (*step).to_owned()));
            // The first step below a machine is a key of it; of what is unknown any may be.
            let keys = steps.iter().filter(|step| step.parse::<usize>().is_err());
            let most = match meaning {
                Meaning::Node => 1,
                Meaning::Unknown => usize::MAX,
                Meaning::Other => 0,
            };
            self.of_nodes.extend(keys.take(most).map(|step| (*step).to_owned()));
            self.whole_nodes |= meaning == Meaning::Node && is_whole(list, at, &steps);
        }
        // `selectattr("key")`, `map(attribute="key")`, `get("key")`.
        for text in list.iter().filter(|token| token.kind == Kind::Text) {
            let text = text.text.trim_matches(['"', '\'']).to_owned();
            if of_nodes {
                self.of_nodes.insert(text.clone());
            }
            self.attributes.insert(text);
        }
    }

    fn add_python(&mut self, text: &str) {
        let found = PYTHON_KEY.as_ref().into_iter().flat_map(|key| key.captures_iter(text));
        for key in found.filter_map(|found| Some(found.get(1)?.as_str().to_owned())) {
            self.names.insert(key.clone());
            self.attributes.insert(key.clone());
            self.of_nodes.insert(key);
        }
    }
}

/// Returns whether all of what begins here is shown: `node | tojson`, `node.items()`, `hcl(node)`.
fn is_whole(list: &[Token<'_>], at: usize, steps: &[&str]) -> bool {
    let text = |at: Option<usize>| at.and_then(|at| list.get(at)).map_or("", |token| token.text);
    if steps.iter().any(|step| WHOLE.contains(step)) {
        return true;
    }
    if !steps.iter().all(|step| step.parse::<usize>().is_ok()) {
        return false;
    }
    let filtered = list[at..].windows(2).any(|pair| pair[0].text == "|" && WHOLE.contains(&pair[1].text));
    filtered || text(at.checked_sub(1)) == "(" && WHOLE.contains(&text(at.checked_sub(2)))
}

fn words(text: &str) -> Option<Tokens<'_>> {
    Tokens::until(text, "").ok().flatten().map(|(tokens, _)| tokens)
}

/// Returns the expressions of a derived value, each with the value's name.
fn expressions_of(derivation: &Derivation) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut open = vec![&derivation.formula];
    while let Some(formula) = open.pop() {
        match formula {
            Formula::Expression { text, .. } => found.push((derivation.name.as_str(), text.as_str())),
            Formula::Literal(_) => {}
            Formula::List(items) => open.extend(items),
            Formula::Map(entries) => open.extend(entries.iter().map(|(_, formula)| formula)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_templates(templates: &[&str]) -> ReadKeys {
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        let marks = Marks { block: pair("#%", "%#"), variable: pair("#{", "}#"), comment: pair("#|", "#|") };
        ReadKeys::of(&Readers {
            templates: templates.to_vec(),
            marks: &marks,
            derivations: &[],
            plugins: Vec::new(),
            others: Vec::new(),
        })
    }

    fn reads_memory(template: &str) -> bool {
        of_templates(&[template]).has_of_node("memory")
    }

    #[test]
    fn a_key_of_a_machine_is_read_however_the_machine_is_reached() {
        for template in [
            "#% for node in nodes %##{ node.memory }##% endfor %#",
            "#% for n in nodes if n.controller %##{ n['memory'] | default(1) }##% endfor %#",
            "#{ nodes[0].memory }#",
            "#{ (nodes | first).name }##{ nodes | map(attribute='memory') | sum }#",
            "#% set workers = nodes | rejectattr('controller') %##% for w in workers %##{ w.memory }##% endfor %#",
            "#% macro size(node) %##{ node.memory }##% endmacro %#",
            "#% for node in nodes %##{ node.get('memory', 1) }##% endfor %#",
            "#% for node in nodes %##% for key, value in node.items() %##{ key }##% endfor %##% endfor %#",
            "#{ nodes | tojson }#",
            "#% for node in nodes %##{ hcl(node) }##% endfor %#",
            "#% set ns = namespace(last=none) %##% for node in nodes %##% set ns.last = node %##% endfor %##{ ns.last.memory }#",
        ] {
            assert!(reads_memory(template), "{template}");
        }
    }

    #[test]
    fn a_key_of_another_map_is_none_of_a_machine() {
        for template in [
            "#{ proxmox_vm_defaults.memory }#",
            "#% for node in nodes %##% set role = proxmox_vm_controller_defaults if node.controller else proxmox_vm_worker_defaults %##{ node.vm_memory | default(role.memory) }##% endfor %#",
            "#% for vm in proxmox_vms %##{ vm.memory }##% endfor %#",
            "#% for box in containers | default([]) %##{ box.memory }##% endfor %#",
            "memory #| nodes[0].memory #|",
        ] {
            assert!(!reads_memory(template), "{template}");
        }
    }

    #[test]
    fn what_is_included_knows_the_names_of_those_that_include_it() {
        let part = "#{ node.memory }#";

        assert!(
            of_templates(&["#% for node in nodes %##% include 'a' %##% endfor %#", part])
                .has_of_node("memory")
        );
        assert!(
            !of_templates(&["#% for node in others %##% include 'a' %##% endfor %#", part])
                .has_of_node("memory")
        );
    }

    #[test]
    fn names_and_attributes_are_known_apart() {
        let read = of_templates(&["#{ one.two['three'] if four is defined else five(six=seven) | eight }#"]);

        assert!(["one", "four", "seven"].iter().all(|name| read.has(name)));
        assert!(!["two", "three", "five", "eight"].iter().any(|name| read.has(name)));
        assert!(read.has_attribute("two") && read.has_attribute("three") && !read.has_attribute("one"));
    }

    #[test]
    fn derived_values_and_plugins_read_too() {
        let pair = |start: &str, end: &str| (start.to_owned(), end.to_owned());
        let marks = Marks { block: pair("{%", "%}"), variable: pair("{{", "}}"), comment: pair("{#", "#}") };
        let text = "nodes | selectattr('controller') | list".to_owned();
        let formula = Formula::Expression { text, place: String::new() };
        let derivations = [Derivation { name: "controllers".to_owned(), formula }];
        let plugins = vec!["SIZES = {\"cores\": 4}\nfor n in data[\"nodes\"]: n.get('tags')".to_owned()];

        let templates = vec!["{{ controllers[0].memory }}{{ sizes.id }}{{ of_the_plugin.size }}"];
        let read = ReadKeys::of(&Readers {
            templates,
            marks: &marks,
            derivations: &derivations,
            plugins,
            others: vec!["sizes"],
        });

        assert!(["memory", "controller", "tags", "size"].iter().all(|key| read.has_of_node(key)));
        assert!(!["cores", "id"].iter().any(|key| read.has_of_node(key)));
    }
}
