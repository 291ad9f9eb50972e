//! What of a plan's values must not be shown.
//!
//! tofu marks attributes, outputs and variables as sensitive, but providers copy such
//! values into attributes that nothing marks; so a value that contains one is not shown
//! either. Nor is one that holds a secret of an encrypted file, nor what stands, or stood,
//! in its place. Pure.

use serde_json::Value;

use super::plan_value::{Step, has_mark, written};
use crate::engine::state_content::{MASK, collect_leaves, is_telling};
use crate::model::{Mask, Safe};
use crate::secrets::redactor::Redactor;

/// Knows which values of two plans must not be shown.
pub(super) struct PlanSecrets<'a> {
    /// What tofu marks somewhere; `None` where that is too much to look for, and then all is hidden.
    sensitive: Option<Redactor>,
    mask: &'a dyn Mask,
}

impl<'a> PlanSecrets<'a> {
    /// Collects what the plans mark; `mask` hides secrets from elsewhere in a text.
    pub fn of(plans: [&Value; 2], mask: &'a dyn Mask) -> Self {
        let mut sensitive = Vec::new();
        for plan in plans {
            let resources = ["resource_changes", "resource_drift"].into_iter();
            let resources = resources.filter_map(|key| plan[key].as_array()).flatten();
            let resources = resources.map(|resource| &resource["change"]);
            let outputs = plan["output_changes"].as_object().into_iter().flat_map(|map| map.values());
            resources.chain(outputs).for_each(|change| collect_change(change, &mut sensitive));
            collect_variables(plan, &mut sensitive);
        }
        sensitive.retain(|text| is_telling(text));
        sensitive.sort_unstable();
        sensitive.dedup();
        Self { sensitive: Redactor::of_whole(&sensitive).ok(), mask }
    }

    /// Returns two values as they may be shown; both are hidden if one of them must be.
    pub fn told(&self, changes: [&Value; 2], path: &[Step], values: (&Value, &Value)) -> (String, String) {
        if self.is_told_masked(changes, path, values) {
            return (MASK.to_owned(), MASK.to_owned());
        }
        (written(values.0), written(values.1))
    }

    /// Returns whether one of two values must not be shown.
    pub fn is_told_masked(&self, changes: [&Value; 2], path: &[Step], values: (&Value, &Value)) -> bool {
        let mut own = Vec::new();
        changes.iter().for_each(|change| collect_change(change, &mut own));
        let marked = changes.iter().any(|change| self.hides_any(change, path));
        marked || self.tells(values.0, &own) || self.tells(values.1, &own)
    }

    /// Returns whether a change marks what a way leads to as a whole, before or after it.
    pub fn hides(&self, change: &Value, path: &[Step]) -> bool {
        let reached = |marks: &Value| {
            let mut reached = marks;
            for step in path {
                match step.follow(reached) {
                    Some(next) => reached = next,
                    None => break,
                }
            }
            reached == &Value::Bool(true)
        };
        reached(&change["before_sensitive"]) || reached(&change["after_sensitive"])
    }

    /// Returns whether a change marks what a way leads to, or a part of it, before or after it.
    pub fn hides_any(&self, change: &Value, path: &[Step]) -> bool {
        [&change["before_sensitive"], &change["after_sensitive"]].iter().any(|marks| is_marked(marks, path))
    }

    /// Returns a text, such as an address with keys in it, without anything that must not be shown.
    pub fn masked(&self, text: &str) -> Safe {
        Safe::through(self.mask, text)
    }

    /// Returns a text without what must not be shown, nor what tofu marks elsewhere.
    pub fn all_masked(&self, text: &str) -> Safe {
        let Some(sensitive) = &self.sensitive else { return MASK.into() };
        Safe::through(sensitive, &self.mask.masked(text))
    }

    /// Returns where a value stands; names of attributes tell nothing, keys below them may.
    pub fn masked_path(&self, path: &[Step]) -> Safe {
        let masked = |(depth, step): (usize, &Step)| match step {
            Step::Key(key) if depth > 0 => Step::Key(self.all_masked(key).into()),
            step => step.clone(),
        };
        self.masked(&Step::written(&path.iter().enumerate().map(masked).collect::<Vec<_>>()))
    }

    /// Returns whether all that must not be shown in a document stands in single texts of it, so that it
    /// can be told value by value.
    pub fn keeps_shape(&self, text: &str, document: &Value) -> bool {
        let masked = self.all_masked(text);
        masked.as_str() == text
            || serde_json::from_str::<Value>(&masked).is_ok_and(|shown| shown == self.leaves(document))
    }

    /// Returns whether all that must not be shown in a text stands in single lines of it, so that it can
    /// be told line by line.
    pub fn keeps_lines(&self, text: &str) -> bool {
        let lines: Vec<String> = text.split('\n').map(|line| self.all_masked(line).into()).collect();
        self.all_masked(text).as_str() == lines.join("\n")
    }

    /// Returns whether a value is what its own resource hides.
    pub fn is_own(&self, change: &Value, text: &str) -> bool {
        let mut own = Vec::new();
        collect_change(change, &mut own);
        own.iter().any(|own| own == text)
    }

    fn leaves(&self, document: &Value) -> Value {
        match document {
            Value::String(text) => self.all_masked(text).as_str().into(),
            Value::Array(items) => items.iter().map(|item| self.leaves(item)).collect(),
            Value::Object(map) => {
                let masked =
                    |(key, item): (&String, &Value)| (self.all_masked(key).into(), self.leaves(item));
                map.iter().map(masked).collect::<serde_json::Map<String, Value>>().into()
            }
            plain => plain.clone(),
        }
    }

    /// Returns whether a value holds what must not be shown, or equals what its own resource hides.
    fn tells(&self, value: &Value, own: &[String]) -> bool {
        let mut leaves = Vec::new();
        collect_leaves(value, &mut leaves);
        let is_told = |text: &str| self.all_masked(text).as_str() != text;
        leaves.iter().any(|leaf| own.contains(leaf) || is_told(leaf)) || is_told(&value.to_string())
    }
}

/// Returns whether marks are about what a way leads to: it, a part of it, or something around it.
fn is_marked(marks: &Value, path: &[Step]) -> bool {
    let mut reached = marks;
    for step in path {
        if reached == &Value::Bool(true) {
            return true;
        }
        let Some(next) = step.follow(reached) else { return false };
        reached = next;
    }
    has_mark(reached)
}

/// Adds the texts and numbers that a change marks, before and after it.
fn collect_change(change: &Value, into: &mut Vec<String>) {
    collect_marked(&change["before"], &change["before_sensitive"], into);
    collect_marked(&change["after"], &change["after_sensitive"], into);
}

/// Adds the texts and numbers that marks lead to.
fn collect_marked(value: &Value, marks: &Value, into: &mut Vec<String>) {
    match (marks, value) {
        (Value::Bool(true), _) => collect_leaves(value, into),
        (Value::Array(marks), Value::Array(items)) => {
            marks.iter().zip(items).for_each(|(mark, item)| collect_marked(item, mark, into));
        }
        (Value::Object(marks), Value::Object(map)) => {
            let both = marks.iter().filter_map(|(key, mark)| Some((mark, map.get(key)?)));
            both.for_each(|(mark, item)| collect_marked(item, mark, into));
        }
        _ => {}
    }
}

/// Adds the values of variables that are declared as sensitive.
fn collect_variables(plan: &Value, into: &mut Vec<String>) {
    let declared = &plan["configuration"]["root_module"]["variables"];
    for (name, variable) in plan["variables"].as_object().into_iter().flatten() {
        if declared[name.as_str()]["sensitive"] == true {
            collect_leaves(&variable["value"], into);
        }
    }
}
