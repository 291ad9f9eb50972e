//! Follows every reference of a rendered folder to what it names: variables, locals, resources,
//! data sources, modules and their outputs; and every value of a module call to its variable.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::expr::{Expression, ForExpr, Traversal, TraversalOperator};
use hcl_edit::structure::{Attribute, Block, BlockLabel};
use hcl_edit::visit::{Visit, visit_attr, visit_block, visit_expr, visit_for_expr, visit_traversal};

use super::tree::{Folder, Tree};

/// Names that OpenTofu itself gives a meaning.
const GIVEN: [&str; 5] = ["each", "count", "self", "path", "terraform"];

/// Returns what is referred to and not there, is there and not used, or not given to a module.
pub fn check(tree: &Tree) -> Vec<String> {
    let folders: BTreeMap<String, Folder> =
        tree.folders().into_iter().map(|folder| (folder.path.clone(), folder)).collect();
    let mut faults = Vec::new();
    for folder in folders.values() {
        let mut finder = Finder::new(folder, &folders);
        for (file, body) in &folder.bodies {
            finder.file.clone_from(file);
            finder.visit_body(body);
        }
        finder.unused();
        faults.append(&mut finder.faults);
        faults.extend(calls(folder, &folders));
        faults.extend(values(folder, tree));
    }
    faults
}

struct Finder<'a> {
    folder: &'a Folder,
    declared: BTreeSet<String>,
    used: BTreeSet<String>,
    outputs: BTreeMap<String, BTreeSet<String>>,
    bound: Vec<String>,
    file: String,
    faults: Vec<String>,
}

impl<'a> Finder<'a> {
    fn new(folder: &'a Folder, folders: &BTreeMap<String, Folder>) -> Self {
        let mut outputs = BTreeMap::new();
        for (labels, block) in folder.labels("module") {
            let called = source(folder, block).and_then(|path| folders.get(&path));
            let names = called.map(|called| names(called, "output")).unwrap_or_default();
            outputs.insert(labels[0].to_owned(), names);
        }
        let declared = declared(folder);
        let (used, bound, file, faults) = Default::default();
        Self { folder, declared, used, outputs, bound, file, faults }
    }

    fn refer(&mut self, root: &str, operators: &[TraversalOperator]) {
        if self.bound.iter().any(|name| name == root) || GIVEN.contains(&root) {
            return;
        }
        let parts: Vec<&str> = operators.iter().map_while(attribute).collect();
        let name = match (root, parts.as_slice()) {
            ("data", [kind, name, ..]) => format!("data.{kind}.{name}"),
            (_, [name, ..]) => format!("{root}.{name}"),
            _ => root.to_owned(),
        };
        if !self.declared.contains(&name) {
            self.faults.push(format!("{}: `{name}` is not declared", self.file));
        }
        if let ("module", [called, output, ..]) = (root, parts.as_slice()) {
            let known = self.outputs.get(*called).is_some_and(|outputs| outputs.contains(*output));
            if !known {
                self.faults.push(format!("{}: module `{called}` has no output `{output}`", self.file));
            }
        }
        self.used.insert(name);
    }

    fn unused(&mut self) {
        for name in self.declared.difference(&self.used) {
            if name.starts_with("var.") || name.starts_with("local.") {
                self.faults.push(format!("{}: `{name}` is never used", self.folder.path));
            }
        }
    }
}

impl Visit for Finder<'_> {
    fn visit_block(&mut self, block: &Block) {
        match (block.ident.as_str(), block.labels.first()) {
            // Names in it are types, not values.
            ("variable", Some(_)) => {
                for attribute in block.body.attributes().filter(|attribute| attribute.key.as_str() != "type")
                {
                    self.visit_attr(attribute);
                }
                block.body.blocks().for_each(|block| self.visit_block(block));
            }
            ("dynamic", Some(iterator)) => {
                self.bound.push(iterator.as_str().to_owned());
                visit_block(self, block);
                self.bound.pop();
            }
            _ => visit_block(self, block),
        }
    }

    fn visit_attr(&mut self, attribute: &Attribute) {
        // Names the attributes of the resource around it.
        if attribute.key.as_str() != "ignore_changes" {
            visit_attr(self, attribute);
        }
    }

    fn visit_for_expr(&mut self, expression: &ForExpr) {
        let before = self.bound.len();
        self.bound.extend(expression.intro.key_var.iter().map(|name| name.as_str().to_owned()));
        self.bound.push(expression.intro.value_var.as_str().to_owned());
        visit_for_expr(self, expression);
        self.bound.truncate(before);
    }

    fn visit_traversal(&mut self, traversal: &Traversal) {
        if let Expression::Variable(root) = &traversal.expr {
            self.refer(root.as_str(), &operators(traversal));
            traversal.operators.iter().for_each(|operator| self.visit_traversal_operator(operator));
        } else {
            visit_traversal(self, traversal);
        }
    }

    fn visit_expr(&mut self, expression: &Expression) {
        match expression {
            Expression::Variable(root) => self.refer(root.as_str(), &[]),
            other => visit_expr(self, other),
        }
    }
}

fn operators(traversal: &Traversal) -> Vec<TraversalOperator> {
    traversal.operators.iter().map(|operator| operator.value().clone()).collect()
}

fn attribute(operator: &TraversalOperator) -> Option<&str> {
    match operator {
        TraversalOperator::GetAttr(name) => Some(name.as_str()),
        _ => None,
    }
}

fn declared(folder: &Folder) -> BTreeSet<String> {
    let mut declared = BTreeSet::new();
    for (_, block) in folder.blocks() {
        let labels: Vec<&str> = block.labels.iter().map(BlockLabel::as_str).collect();
        match (block.ident.as_str(), labels.as_slice()) {
            ("variable", [name]) => _ = declared.insert(format!("var.{name}")),
            ("module", [name]) => _ = declared.insert(format!("module.{name}")),
            ("resource", [kind, name]) => _ = declared.insert(format!("{kind}.{name}")),
            ("data", [kind, name]) => _ = declared.insert(format!("data.{kind}.{name}")),
            ("locals", []) => {
                declared.extend(block.body.attributes().map(|local| format!("local.{}", local.key.as_str())));
            }
            _ => {}
        }
    }
    declared
}

fn names(folder: &Folder, kind: &str) -> BTreeSet<String> {
    folder.labels(kind).map(|(labels, _)| labels[0].to_owned()).collect()
}

/// Returns the folder that a module call names.
fn source(folder: &Folder, block: &Block) -> Option<String> {
    let source = block.body.get_attribute("source")?.value.as_str()?;
    let mut parts: Vec<&str> = folder.path.split('/').collect();
    for part in source.split('/') {
        match part {
            ".." => _ = parts.pop(),
            "." => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns faults of module calls: values without a variable, variables without a value.
fn calls(folder: &Folder, folders: &BTreeMap<String, Folder>) -> Vec<String> {
    let mut faults = Vec::new();
    for (labels, block) in folder.labels("module") {
        let place = format!("{}: module `{}`", folder.path, labels[0]);
        let Some(called) = source(folder, block).and_then(|path| folders.get(&path)) else {
            faults.push(format!("{place} is not there"));
            continue;
        };
        let given: BTreeSet<String> =
            block.body.attributes().map(|value| value.key.as_str().to_owned()).collect();
        let own = ["source", "for_each", "count", "depends_on", "providers"].map(str::to_owned);
        let known = names(called, "variable");
        faults.extend(
            given
                .iter()
                .filter(|name| !own.contains(name) && !known.contains(*name))
                .map(|name| format!("{place} has no variable `{name}`")),
        );
        faults.extend(needed(called).difference(&given).map(|name| format!("{place} needs `{name}`")));
    }
    faults
}

/// Returns faults of a stack's values: such that no variable takes, variables that nothing fills.
fn values(folder: &Folder, tree: &Tree) -> Vec<String> {
    if folder.path.contains("/modules/") {
        return Vec::new();
    }
    let plain = tree.keys(&format!("{}/terraform.tfvars", folder.path));
    let secrets = tree.text("infrastructure/secrets.sops.yaml");
    let secret = secrets.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name.to_owned());
    let known = names(folder, "variable");
    let unknown = plain.iter().filter(|name| !known.contains(*name));
    let mut faults: Vec<String> =
        unknown.map(|name| format!("{}: no variable takes `{name}`", folder.path)).collect();
    let given: BTreeSet<String> = plain.iter().cloned().chain(secret).collect();
    let missing = needed(folder);
    faults.extend(missing.difference(&given).map(|name| format!("{}: nothing fills `{name}`", folder.path)));
    faults
}

/// Returns the variables that have no default.
fn needed(folder: &Folder) -> BTreeSet<String> {
    let required =
        folder.labels("variable").filter(|(_, block)| block.body.get_attribute("default").is_none());
    required.map(|(labels, _)| labels[0].to_owned()).collect()
}
