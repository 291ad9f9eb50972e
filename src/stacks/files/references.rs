//! What the files of a folder refer to where tofu evaluates before anything else: encryption,
//! backend, sources and versions of modules, `for_each` of providers, constant variables.
//!
//! Names are found in the text of an expression: one too many costs nothing, one too few would
//! fail a run. A file that does not parse may refer to everything that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::tofu_files::is_json;
use crate::syntax;
use crate::syntax::{Attribute, Block, Body};

/// Names of variables and of local values.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct References {
    pub variables: BTreeSet<String>,
    pub locals: BTreeSet<String>,
}

impl References {
    /// Finds the names in a text.
    pub fn of(text: &str) -> Self {
        Self { variables: names_after("var", text), locals: names_after("local", text) }
    }

    /// Adds those of a text.
    pub fn add(&mut self, text: &str) {
        let Self { variables, locals } = Self::of(text);
        self.variables.extend(variables);
        self.locals.extend(locals);
    }
}

/// A `module` block.
#[derive(Clone, Debug, Default)]
pub(super) struct ModuleCall {
    /// Where it comes from, as it is written; an override adds another.
    pub sources: Vec<String>,
    /// What source and version refer to.
    pub origin: References,
    /// What each argument refers to.
    pub arguments: BTreeMap<String, References>,
}

/// A `variable` block.
#[derive(Clone, Debug, Default)]
pub(super) struct Declaration {
    /// Its default, as it is written.
    pub default: String,
    /// Whether a value on the command line is a text, and no expression.
    pub is_primitive: bool,
    /// Whether its value must not be shown.
    pub is_sensitive: bool,
}

/// What the files of a folder refer to early.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderReferences {
    pub encryption: References,
    /// Backend, providers, constant variables.
    pub others: References,
    pub modules: BTreeMap<String, ModuleCall>,
    /// The expressions of local values, as they are written.
    pub locals: BTreeMap<String, String>,
    pub variables: BTreeMap<String, Declaration>,
}

impl FolderReferences {
    /// Reads the files of a folder; what cannot be read is tofu's to judge.
    pub fn read(dir: &Path, files: &[String]) -> Self {
        let mut found = Self::default();
        for name in files {
            let path = dir.join(name);
            // A pipe or a device would block or never end.
            let is_file = std::fs::metadata(&path).is_ok_and(|facts| facts.is_file());
            let text = is_file.then(|| std::fs::read_to_string(&path).ok()).flatten();
            if let Some(text) = text {
                found.add_file(name, text.trim_start_matches('\u{feff}'));
            }
        }
        found
    }

    fn add_file(&mut self, name: &str, text: &str) {
        if is_json(name) {
            match serde_json::from_str(text) {
                Ok(document) => self.add_json(&document),
                Err(_) => self.others.add(text),
            }
            return;
        }
        let document = syntax::read(text);
        NativeReader { text, found: self }.body(&document.body);
        if document.fault.is_some() {
            self.others.add(text);
        }
    }

    fn add_json(&mut self, document: &Value) {
        for (kind, value) in entries(document) {
            match kind {
                "terraform" => entries(value).for_each(|(name, value)| match name {
                    "encryption" => self.encryption.add(&value.to_string()),
                    "backend" | "cloud" => self.others.add(&value.to_string()),
                    _ => {}
                }),
                "locals" => self
                    .locals
                    .extend(entries(value).map(|(name, value)| (name.to_owned(), value.to_string()))),
                "variable" => entries(value).for_each(|(name, block)| self.add_json_variable(name, block)),
                "provider" => {
                    let blocks = entries(value).flat_map(|(_, block)| entries(block));
                    let iterations = blocks.filter(|(name, _)| *name == "for_each");
                    iterations.for_each(|(_, value)| self.others.add(&value.to_string()));
                }
                "module" => entries(value).for_each(|(name, block)| {
                    let call = self.modules.entry(name.to_owned()).or_default();
                    entries(block).for_each(|(name, value)| call.add(name, &value.to_string()));
                }),
                _ => {}
            }
        }
    }

    fn add_json_variable(&mut self, name: &str, block: &Value) {
        let settings = entries(block).map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.to_owned(), text)
        });
        self.declare(name, &settings.collect());
    }

    fn declare(&mut self, name: &str, settings: &BTreeMap<String, String>) {
        let is = |setting: &str| settings.get(setting).is_some_and(|text| text == "true");
        let kind = settings.get("type").map(|text| text.trim_matches('"'));
        if is("const") {
            self.others.variables.insert(name.to_owned());
        }
        let declaration = Declaration {
            default: settings.get("default").cloned().unwrap_or_default(),
            is_primitive: kind.is_none_or(|kind| ["string", "number", "bool"].contains(&kind)),
            is_sensitive: is("sensitive"),
        };
        self.variables.insert(name.to_owned(), declaration);
    }
}

impl ModuleCall {
    fn add(&mut self, name: &str, text: &str) {
        match name {
            "source" => {
                self.origin.add(text);
                self.sources.push(text.to_owned());
            }
            "version" => self.origin.add(text),
            _ => self.arguments.entry(name.to_owned()).or_default().add(text),
        }
    }
}

/// Reads the native syntax.
struct NativeReader<'a> {
    text: &'a str,
    found: &'a mut FolderReferences,
}

impl<'a> NativeReader<'a> {
    fn body(&mut self, body: &Body<'_>) {
        for block in &body.blocks {
            match (block.kind, block.labels.first().map(AsRef::as_ref)) {
                ("terraform", None) => self.terraform(&block.body),
                ("locals", None) => {
                    let locals = self.arguments(&block.body);
                    self.found.locals.extend(locals.into_iter().map(|(name, text)| (name, text.to_owned())));
                }
                ("variable", Some(name)) => {
                    let settings = self.arguments(&block.body).into_iter();
                    self.found.declare(name, &settings.map(|(name, text)| (name, text.to_owned())).collect());
                }
                ("provider", Some(_)) => {
                    let iteration = block.body.attribute("for_each").map(|found| self.value_of(found));
                    iteration.into_iter().for_each(|text| self.found.others.add(text));
                }
                ("module", Some(name)) => self.module(name, block),
                _ => {}
            }
        }
    }

    fn terraform(&mut self, body: &Body<'_>) {
        for block in &body.blocks {
            let text = self.text.get(block.span.clone()).unwrap_or_default();
            match block.kind {
                "encryption" => self.found.encryption.add(text),
                "backend" | "cloud" => self.found.others.add(text),
                _ => {}
            }
        }
    }

    fn module(&mut self, name: &str, block: &Block<'_>) {
        let arguments = self.arguments(&block.body);
        let call = self.found.modules.entry(name.to_owned()).or_default();
        arguments.into_iter().for_each(|(name, text)| call.add(&name, text));
    }

    fn arguments(&self, body: &Body<'_>) -> Vec<(String, &'a str)> {
        body.attributes.iter().map(|found| (found.name.to_owned(), self.value_of(found))).collect()
    }

    fn value_of(&self, attribute: &Attribute<'_>) -> &'a str {
        self.text.get(attribute.value.clone()).unwrap_or_default().trim()
    }
}

/// Returns the entries of an object, or of every object in a list.
fn entries(value: &Value) -> Box<dyn Iterator<Item = (&str, &Value)> + '_> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let maps = list.iter().filter_map(Value::as_object).flatten();
    Box::new(maps.map(|(name, value)| (name.as_str(), value)))
}

/// Returns every name in `ROOT.NAME`.
fn names_after(root: &str, text: &str) -> BTreeSet<String> {
    let is_name = |char: char| char.is_alphanumeric() || char == '_' || char == '-';
    let mut names = BTreeSet::new();
    for (start, _) in text.match_indices(root) {
        let (before, after) = (&text[..start], &text[start + root.len()..]);
        if before.ends_with(|char: char| is_name(char) || char == '.') {
            continue;
        }
        let Some(rest) = after.trim_start().strip_prefix('.') else { continue };
        let rest = rest.trim_start();
        let name = rest.split(|char| !is_name(char)).next().unwrap_or_default();
        if !name.is_empty() {
            names.insert(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        names_after("var", text).into_iter().collect()
    }

    #[test]
    fn a_name_is_found_wherever_an_expression_may_have_it() {
        assert_eq!(
            names("\"${var.a}-${ var . b_1 }${local.var.no}\" + [for x in var.c-d : x]"),
            ["a", "b_1", "c-d"]
        );
        assert_eq!(names("myvar.x + each.var.y + variable.z + var"), [""; 0]);
        assert_eq!(names("lookup(var.größe[0], \"x\")"), ["größe"]);
    }

    #[test]
    fn both_forms_of_the_language_refer_to_the_same() {
        let native = r#"
variable "a" { const = true }
variable "list" { type = list(string) }
variable "secret" {
  type      = string
  sensitive = true
}
locals {
  where = var.w
}
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.p
    }
  }
  backend "local" { path = "${local.where}.tfstate" }
}
provider "x" {
  alias    = "by"
  for_each = var.regions
  token    = var.no
}
module "m" {
  source  = "./m/${var.s}"
  version = var.v
  size    = var.z
}
resource "x" "y" { input = var.no }
"#;
        let json = r#"{
"variable": {"a": {"const": true}, "list": {"type": "list(string)"}, "secret": {"type": "string", "sensitive": true}},
"locals": {"where": "${var.w}"},
"terraform": [{"encryption": {"key_provider": {"pbkdf2": {"k": {"passphrase": "${var.p}"}}}},
  "backend": {"local": {"path": "${local.where}.tfstate"}}}],
"provider": {"x": [{"alias": "by", "for_each": "${var.regions}", "token": "${var.no}"}]},
"module": {"m": {"source": "./m/${var.s}", "version": "${var.v}", "size": "${var.z}"}},
"resource": {"x": {"y": {"input": "${var.no}"}}}
}"#;
        for (name, text) in [("main.tf", native), ("main.tf.json", json)] {
            let mut found = FolderReferences::default();
            found.add_file(name, text);

            assert_eq!(found.encryption, References::of("var.p"), "{name}");
            assert_eq!(found.others, References::of("var.a local.where var.regions"), "{name}");
            let call = &found.modules["m"];
            assert_eq!(call.origin, References::of("var.s var.v"), "{name}");
            assert_eq!(call.arguments["size"], References::of("var.z"), "{name}");
            assert_eq!(call.sources, ["\"./m/${var.s}\""], "{name}");
            assert_eq!(References::of(&found.locals["where"]), References::of("var.w"), "{name}");
            let is = |name: &str| (found.variables[name].is_primitive, found.variables[name].is_sensitive);
            assert_eq!([is("a"), is("list"), is("secret")], [(true, false), (false, false), (true, true)]);
        }
    }

    #[test]
    fn a_file_that_does_not_parse_may_refer_to_everything_that_it_names() {
        let mut found = FolderReferences::default();
        found.add_file("main.tf", "terraform {{\n  x = var.a\n");

        assert_eq!(found.others, References::of("var.a"));
    }
}
