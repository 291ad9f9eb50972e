//! The old values of secrets in a plan: where a new value holds a secret, what stood there before
//! was one too, though no encrypted file knows it any more.
//!
//! A plan shows both beside each other, so the old ones are found first, in the plan as JSON, which
//! stays in memory. Where there is no new value, because the resource goes away or the value is not
//! known yet, the configuration tells which attributes are given secrets. Begin at
//! [`hide_old_values`].

use std::path::Path;

use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::fed_attributes::{fed_attributes, without_keys};
use super::plan_json::read_plan;
use crate::engine::session::Session;
use crate::error::Result;
use crate::model::{Mask, StackId};
use crate::process::Invocation;
use crate::secrets::redactor::MASK;
use crate::tofu::collect_literals;

/// Hides in everything that is told from now on what the secrets in a saved plan replace; returns the
/// plan, which may hold secrets and must not leave the memory.
pub async fn hide_old_values(
    session: &Session,
    id: &StackId,
    base: Invocation,
    plan: &Path,
) -> Result<Value> {
    let plan = read_plan(session, id, base, plan).await?;
    hide_old_values_in(session, id, &plan)?;
    Ok(plan)
}

/// Hides in everything that is told from now on what the secrets in a plan replace.
pub fn hide_old_values_in(session: &Session, id: &StackId, plan: &Value) -> Result<()> {
    let mut values = old_values(plan, &session.mask());
    let variables = session.secrets_of(id).map(|secrets| secrets.variables.keys().map(String::as_str));
    values.extend(values_without_successor(plan, &variables.into_iter().flatten().collect::<Vec<_>>()));
    session.hide(values)
}

/// Returns what stands in a plan where a secret will be.
fn old_values(plan: &Value, mask: &dyn Mask) -> Vec<Zeroizing<String>> {
    let changes = ["resource_changes", "resource_drift"].into_iter().flat_map(|key| plan[key].as_array());
    let changes = changes.flatten().map(|resource| &resource["change"]);
    let outputs = plan["output_changes"].as_object().into_iter().flat_map(Map::values);
    let mut search = Search { mask, found: Vec::new() };
    for change in changes.chain(outputs) {
        search.compare(&change["before"], &change["after"]);
    }
    search.found
}

/// Returns what attributes hold that are fed from secret variables and have no known new value.
fn values_without_successor(plan: &Value, variables: &[&str]) -> Vec<Zeroizing<String>> {
    let (fed, mut found) = (fed_attributes(plan, variables), Vec::new());
    for resource in plan["resource_changes"].as_array().into_iter().flatten() {
        let (change, address) = (&resource["change"], resource["address"].as_str().unwrap_or_default());
        let address = without_keys(address);
        for attribute in fed.iter().filter(|attribute| attribute.resource == address) {
            if change["after"].get(&attribute.name).is_none_or(Value::is_null) {
                collect_literals(&change["before"][&attribute.name], &mut found);
            }
        }
    }
    found
}

struct Search<'a> {
    mask: &'a dyn Mask,
    found: Vec<Zeroizing<String>>,
}

impl Search<'_> {
    fn compare(&mut self, before: &Value, after: &Value) {
        match (before, after) {
            _ if before == after => {}
            (Value::Object(before), Value::Object(after)) => self.compare_maps(before, after),
            (Value::Array(before), Value::Array(after)) => self.compare_lists(before, after),
            (Value::String(before), Value::String(after)) if self.is_secret(after) => {
                self.compare_texts(before, after);
            }
            _ if self.tells(after) => collect_literals(before, &mut self.found),
            _ => {}
        }
    }

    fn compare_maps(&mut self, before: &Map<String, Value>, after: &Map<String, Value>) {
        for (key, value) in before {
            self.compare(value, after.get(key).unwrap_or(&Value::Null));
        }
        // Where a key is a secret, those that are gone were too.
        if after.keys().any(|key| !before.contains_key(key) && self.is_secret(key)) {
            let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
            for (key, value) in gone {
                self.hide(key);
                collect_literals(value, &mut self.found);
            }
        }
    }

    /// Compares what is gone with what is new, for items of a set have no place.
    fn compare_lists(&mut self, before: &[Value], after: &[Value]) {
        let new: Vec<&Value> =
            after.iter().filter(|item| self.tells(item) && !before.contains(item)).collect();
        if new.is_empty() {
            return;
        }
        for gone in before.iter().filter(|item| !after.contains(item)) {
            new.iter().for_each(|item| self.compare(gone, item));
        }
    }

    fn compare_texts(&mut self, before: &str, after: &str) {
        let document = |text: &str| serde_json::from_str(text).ok().filter(|value: &Value| is_nested(value));
        if let (Some(before), Some(after)) = (document(before), document(after)) {
            // tofu shows the difference of two documents value by value.
            self.compare(&before, &after);
        } else if before.contains('\n') {
            // And that of long texts line by line.
            let gone = before.lines().filter(|line| !after.lines().any(|other| other == *line));
            gone.for_each(|line| self.hide(line));
        } else {
            self.hide(before);
            self.hide(self.between(before, after).unwrap_or_default());
        }
    }

    /// Returns what stands in a text where the other one has its secret, if they are the same around it.
    fn between<'b>(&self, before: &'b str, after: &str) -> Option<&'b str> {
        let shown = self.mask.masked(after);
        let (start, end) = (shown.split(MASK).next()?, shown.rsplit(MASK).next()?);
        before.strip_prefix(start)?.strip_suffix(end)
    }

    fn hide(&mut self, text: &str) {
        self.found.push(Zeroizing::new(text.to_owned()));
    }

    fn is_secret(&self, text: &str) -> bool {
        self.mask.masked(text) != text
    }

    /// Returns whether a secret stands anywhere in a value.
    fn tells(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_secret(text),
            Value::Number(number) => self.is_secret(&number.to_string()),
            Value::Array(items) => items.iter().any(|item| self.tells(item)),
            Value::Object(map) => map.iter().any(|(key, item)| self.is_secret(key) || self.tells(item)),
            Value::Null | Value::Bool(_) => false,
        }
    }
}

const fn is_nested(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::secrets::redactor::Redactor;

    fn found(before: Value, after: Value) -> Vec<String> {
        let mask = Redactor::new(["new-secret", "55555"]).expect("a redactor");
        let plan = json!({"resource_changes": [{"change": {"before": before, "after": after}}]});
        let mut found: Vec<String> = old_values(&plan, &mask).iter().map(|value| value.to_string()).collect();
        found.retain(|value| !value.is_empty());
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn what_a_secret_replaces_was_one_and_nothing_else_was() {
        let before = json!({"a": "old", "b": "same", "c": "was", "port": 11111, "gone": "x"});
        let after = json!({"a": "new-secret", "b": "same", "c": "is", "port": 55555});

        assert_eq!(found(before, after), ["11111", "old"]);
        assert_eq!(found(json!({"a": "new-secret"}), json!({"a": "open"})), Vec::<String>::new());
        assert_eq!(found(Value::Null, json!({"a": "new-secret"})), Vec::<String>::new());
    }

    #[test]
    fn only_the_part_that_changes_is_the_old_secret_too() {
        let (before, after) = (json!({"url": "db://u:old@host"}), json!({"url": "db://u:new-secret@host"}));

        assert_eq!(found(before, after), ["db://u:old@host", "old"]);
    }

    #[test]
    fn documents_are_compared_value_by_value_and_long_texts_line_by_line() {
        let json = |password: &str| json!({"json": json!({"user": "u", "password": password}).to_string()});
        let text = |password: &str| json!({"text": format!("user: u\npassword: {password}\nend\n")});

        assert_eq!(found(json("old"), json("new-secret")), ["old"]);
        assert_eq!(found(text("old"), text("new-secret")), ["password: old"]);
    }

    #[test]
    fn items_of_a_set_are_compared_wherever_they_stand() {
        let (before, after) = (json!(["a", "old"]), json!(["new-secret", "a"]));
        let blocks = (json!([{"key": "old", "n": 1}]), json!([{"n": 0}, {"key": "new-secret", "n": 1}]));

        assert_eq!(found(json!({"set": before}), json!({"set": after})), ["old"]);
        assert_eq!(found(blocks.0, blocks.1), ["old"]);
    }

    #[test]
    fn a_key_and_a_value_of_another_type_are_found() {
        assert_eq!(found(json!({"map": {"old": "v"}}), json!({"map": {"new-secret": "v"}})), ["old", "v"]);
        assert_eq!(found(json!({"a": ["one", "two"]}), json!({"a": "new-secret"})), ["one", "two"]);
    }

    #[test]
    fn what_goes_away_or_is_not_known_yet_is_found_by_the_variable_that_fed_it() {
        let expressions =
            json!({"input": {"references": ["var.token"]}, "open": {"references": ["var.name"]}});
        let change = |after: Value| json!({"address": "t.a[0]", "change": {"before": {"input": "old", "open": "x"}, "after": after}});
        let resources = json!([{"address": "t.a", "expressions": expressions}]);
        let plan = |after| json!({"configuration": {"root_module": {"resources": resources}}, "resource_changes": [change(after)]});
        let found = |after| values_without_successor(&plan(after), &["token"]).len();

        assert_eq!((found(Value::Null), found(json!({"open": "y"}))), (1, 1));
        assert_eq!(found(json!({"input": "new"})), 0);
    }

    #[test]
    fn outputs_and_drift_are_searched_too() {
        let mask = Redactor::new(["new-secret"]).expect("a redactor");
        let change = |old: &str| json!({"before": old, "after": "new-secret"});
        let plan =
            json!({"output_changes": {"o": change("one")}, "resource_drift": [{"change": change("two")}]});

        let found = old_values(&plan, &mask);

        assert!(["one", "two"].iter().all(|old| found.iter().any(|value| value.as_str() == *old)));
    }
}
