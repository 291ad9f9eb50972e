//! What a plan does that another one did not show, value by value.
//!
//! Pure: two plans as `tofu show -json` writes them in, differences out. What was unknown
//! may become known, and less may be done; everything else that a plan does is compared:
//!
//! - actions, addresses, where a resource is moved from, what is imported;
//! - each value after the plan that was known when shown; where a resource is changed in
//!   place, values that neither plan changes are left out, for nothing is done to them;
//! - values before the plan, where an attribute changes to a known value, and all of them
//!   where something is destroyed.
//!
//! Data sources and resources without a change are not compared. A list with unknown
//! elements is compared by position; JSON does not tell whether it is a set.
//! Begin at [`differences`].

use std::collections::BTreeMap;

use serde_json::Value;

use super::plan_changes::action_of;
use super::plan_secrets::PlanSecrets;
use super::plan_value::{PlanValue, Step, Steps};
use crate::model::{Action, Mask, PlanDifference, ValueDifference, excerpts};

/// How much of a value is told.
const LONGEST: usize = 400;

/// Returns what a plan does that was not shown; `mask` hides what must not be shown in a text.
pub fn differences(shown: &Value, now: &Value, mask: &dyn Mask) -> Vec<PlanDifference> {
    let (before, after) = (changes_of(shown), changes_of(now));
    let secrets = PlanSecrets::of([shown, now], mask);
    let different = |(key, change): (&Key, &Change<'_>)| {
        let compared = Compared { shown: before.get(key).copied(), now: *change, secrets: &secrets };
        compared.difference(&key.0)
    };
    let mut found: Vec<PlanDifference> = after.iter().filter_map(different).collect();
    found.sort_by(|one, other| (one.action, &one.address).cmp(&(other.action, &other.address)));
    found
}

/// Returns what one plan does that another leaves out, or does in another way; in words that may be shown.
pub fn left_out(shown: &Value, now: &Value, mask: &dyn Mask) -> Vec<String> {
    let (before, after) = (changes_of(shown), changes_of(now));
    let secrets = PlanSecrets::of([shown, now], mask);
    let is_left =
        |(key, change): &(&Key, &Change<'_>)| after.get(*key).is_none_or(|now| now.action != change.action);
    let left = before.iter().filter(is_left);
    left.map(|(key, change)| format!("{} `{}`", change.action.sign(), secrets.masked(&key.0))).collect()
}

/// The address of a resource, and which of its left objects it is about.
type Key = (String, String);

/// What a plan does to one resource or output.
#[derive(Clone, Copy, Debug)]
struct Change<'a> {
    action: Action,
    /// Whether it is about an output, of which nothing is lost.
    is_output: bool,
    /// Where it was before, if it moves.
    moved_from: &'a Value,
    /// The values and their marks.
    change: &'a Value,
}

/// Returns what a plan does, by address; what it leaves as it is is not among it.
fn changes_of(plan: &Value) -> BTreeMap<Key, Change<'_>> {
    let resources = plan["resource_changes"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resources = resources.filter(|entry| entry["mode"] != "data").filter_map(|entry| {
        let (change, moved_from) = (&entry["change"], &entry["previous_address"]);
        let action = action_of(change, !moved_from.is_null())?;
        let key = (text(&entry["address"]), text(&entry["deposed"]));
        Some((key, Change { action, is_output: false, moved_from, change }))
    });
    let outputs = plan["output_changes"].as_object().into_iter().flatten();
    let outputs = outputs.filter_map(|(name, change)| {
        let action = action_of(change, false)?;
        let key = (format!("output.{name}"), String::new());
        Some((key, Change { action, is_output: true, moved_from: &Value::Null, change }))
    });
    resources.chain(outputs).collect()
}

/// What was shown of a resource, and what is done to it now.
struct Compared<'a> {
    shown: Option<Change<'a>>,
    now: Change<'a>,
    secrets: &'a PlanSecrets<'a>,
}

impl Compared<'_> {
    fn difference(&self, address: &str) -> Option<PlanDifference> {
        let action = self.now.action;
        let difference = |shown_action, values| {
            Some(PlanDifference { address: self.secrets.masked(address), action, shown_action, values })
        };
        let Some(shown) = self.shown else { return difference(None, Vec::new()) };
        let values = self.values(shown);
        if self.is_covered() && values.is_empty() { None } else { difference(Some(shown.action), values) }
    }

    fn values(&self, shown: Change<'_>) -> Vec<ValueDifference> {
        let mut found = Vec::new();
        for (name, one, other) in [
            ("order", &shown.change["actions"], &self.now.change["actions"]),
            ("moved from", shown.moved_from, self.now.moved_from),
            ("import", &shown.change["importing"], &self.now.change["importing"]),
        ] {
            // Another action is told as such, and what was moved or imported by now is less to do.
            let told = if name == "order" { shown.action == self.now.action } else { !other.is_null() };
            if one != other && told {
                self.tell(&mut found, &[], (one, other), DifferenceAt { name, before: false });
            }
        }
        let trees = Trees::of(shown.change, self.now.change);
        self.compare(&mut found, &mut Vec::new(), trees.as_ref());
        if self.now.action.is_destructive() && !self.now.is_output && self.is_covered() {
            self.compare_before(&mut found, &mut Vec::new(), (&trees.shown.0, &trees.now.0));
        }
        found
    }

    /// Compares values after the plans, and before them where they change.
    fn compare(&self, found: &mut Vec<ValueDifference>, path: &mut Steps, at: TreesAt<'_>) {
        if self.is_in_place() && at.shown.0.is(at.shown.1) && at.now.0.is(at.now.1) {
            return;
        }
        let (shown, now) = (at.shown.1, at.now.1);
        if let Some(steps) = shown.common_steps(now) {
            for step in steps {
                let below = at.below(&step);
                path.push(step);
                self.compare(found, path, below);
                path.pop();
            }
        } else if !shown.allows(now) {
            // With another action it is no wonder that less is known.
            if self.is_covered() || !matches!(now, PlanValue::Unknown) {
                self.tell_values(found, path, (shown, now), false);
            }
        } else if self.is_in_place()
            && !shown.has_unknown()
            && !at.shown.0.is(shown)
            && !at.shown.0.is(at.now.0)
        {
            self.tell_values(found, path, (at.shown.0, at.now.0), true);
        }
    }

    /// Returns whether what exists goes on to exist, so that some values only stay as they are.
    fn is_in_place(&self) -> bool {
        matches!(self.now.action, Action::Update | Action::Import | Action::Move) || self.now.is_output
    }

    /// Returns whether what is done to it was shown; of a replacement only the second half may be left.
    fn is_covered(&self) -> bool {
        let shown = self.shown.map(|shown| shown.action);
        shown == Some(self.now.action) || (shown, self.now.action) == (Some(Action::Replace), Action::Create)
    }

    /// Compares what is lost.
    fn compare_before(
        &self,
        found: &mut Vec<ValueDifference>,
        path: &mut Steps,
        (shown, now): (&PlanValue<'_>, &PlanValue<'_>),
    ) {
        if let Some(steps) = shown.common_steps(now) {
            for step in steps {
                let below = (shown.below(&step), now.below(&step));
                path.push(step);
                self.compare_before(found, path, below);
                path.pop();
            }
        } else if !shown.is(now) {
            self.tell_values(found, path, (shown, now), true);
        }
    }

    fn tell_values(
        &self,
        found: &mut Vec<ValueDifference>,
        path: &[Step],
        (shown, now): (&PlanValue<'_>, &PlanValue<'_>),
        before: bool,
    ) {
        self.tell(found, path, (&shown.to_json(), &now.to_json()), DifferenceAt { name: "", before });
    }

    /// Adds a difference as it may be shown.
    fn tell(
        &self,
        found: &mut Vec<ValueDifference>,
        path: &[Step],
        (shown, now): (&Value, &Value),
        DifferenceAt { name, before }: DifferenceAt,
    ) {
        let changes = [self.shown.map_or(&Value::Null, |shown| shown.change), self.now.change];
        let (shown, now) = self.secrets.told(changes, path, (shown, now));
        let (shown, now) = excerpts(&shown, &now, LONGEST);
        let path = if name.is_empty() { self.secrets.masked(&Step::written(path)) } else { name.into() };
        let (shown, now) = (self.secrets.masked(&shown), self.secrets.masked(&now));
        found.push(ValueDifference { path, before, shown, now });
    }
}

/// How a difference is told.
struct DifferenceAt {
    /// A name for what is no value of the resource.
    name: &'static str,
    before: bool,
}

/// The values of two plans, each before and after.
struct Trees<'a> {
    shown: (PlanValue<'a>, PlanValue<'a>),
    now: (PlanValue<'a>, PlanValue<'a>),
}

impl<'a> Trees<'a> {
    fn of(shown: &'a Value, now: &'a Value) -> Self {
        let tree = |change: &'a Value| {
            let before = PlanValue::of(&change["before"], &Value::Null);
            (before, PlanValue::of(&change["after"], &change["after_unknown"]))
        };
        Self { shown: tree(shown), now: tree(now) }
    }

    const fn as_ref(&self) -> TreesAt<'_> {
        TreesAt { shown: (&self.shown.0, &self.shown.1), now: (&self.now.0, &self.now.1) }
    }
}

/// The values of two plans at one place.
#[derive(Clone, Copy)]
struct TreesAt<'a> {
    shown: (&'a PlanValue<'a>, &'a PlanValue<'a>),
    now: (&'a PlanValue<'a>, &'a PlanValue<'a>),
}

impl TreesAt<'_> {
    fn below(&self, step: &Step) -> Self {
        Self {
            shown: (self.shown.0.below(step), self.shown.1.below(step)),
            now: (self.now.0.below(step), self.now.1.below(step)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::secrets::redactor::Redactor;

    /// A plan with one resource.
    fn plan(actions: &[&str], before: Value, after: Value, unknown: Value) -> Value {
        let change = json!({"actions": actions, "before": before, "after": after, "after_unknown": unknown});
        json!({"resource_changes": [{"address": "vm.a", "mode": "managed", "change": change}]})
    }

    fn updated(before: Value, after: Value) -> Value {
        plan(&["update"], before, after, json!({}))
    }

    fn found(shown: &Value, now: &Value) -> Vec<PlanDifference> {
        differences(shown, now, &Redactor::new([b"hunter2".as_slice()]).expect("a redactor"))
    }

    fn told(shown: &Value, now: &Value) -> Vec<String> {
        let values = found(shown, now).into_iter().flat_map(|difference| difference.values);
        let moment = |value: &ValueDifference| if value.before { " before" } else { "" };
        values
            .map(|value| format!("{}{}: {} {}", value.path, moment(&value), value.shown, value.now))
            .collect()
    }

    #[test]
    fn the_same_plan_and_a_smaller_one_are_as_shown() {
        let shown = updated(json!({"memory": 8}), json!({"memory": 16}));
        let nothing = plan(&["no-op"], json!({"memory": 16}), json!({"memory": 16}), json!({}));

        assert_eq!(found(&shown, &shown), []);
        assert_eq!(found(&shown, &nothing), []);
        assert_eq!(found(&shown, &json!({})), []);
    }

    #[test]
    fn another_value_is_told_with_its_place() {
        let vm = |memory: u32| json!({"disk": [{"size": 1}, {"size": memory}]});
        let create = |memory| plan(&["create"], Value::Null, vm(memory), json!({"id": true}));

        assert_eq!(told(&create(16), &create(4)), ["disk[1].size: 16 4"]);
    }

    #[test]
    fn what_was_unknown_may_become_known_but_not_the_other_way() {
        let unknown = plan(&["create"], Value::Null, json!({"name": "a"}), json!({"ip": true}));
        let known = plan(&["create"], Value::Null, json!({"name": "a", "ip": "::1"}), json!({}));

        assert_eq!(found(&unknown, &known), []);
        assert_eq!(told(&known, &unknown), ["ip: \"::1\" (known after apply)"]);
    }

    #[test]
    fn what_is_not_changed_in_place_may_differ_and_what_is_may_not() {
        let shown =
            updated(json!({"memory": 8, "seen": 1, "cpu": 1}), json!({"memory": 16, "seen": 1, "cpu": 1}));
        let seen =
            updated(json!({"memory": 8, "seen": 2, "cpu": 1}), json!({"memory": 16, "seen": 2, "cpu": 1}));
        let more =
            updated(json!({"memory": 8, "seen": 1, "cpu": 1}), json!({"memory": 16, "seen": 1, "cpu": 2}));
        let drifted =
            updated(json!({"memory": 9, "seen": 1, "cpu": 1}), json!({"memory": 16, "seen": 1, "cpu": 1}));

        assert_eq!(found(&shown, &seen), []);
        assert_eq!(told(&shown, &more), ["cpu: 1 2"]);
        assert_eq!(told(&shown, &drifted), ["memory before: 8 9"]);
    }

    #[test]
    fn a_value_that_becomes_unknown_does_not_bind_what_was_before_it() {
        let shown = |stamp: u32| {
            plan(&["update"], json!({"a": 1, "at": stamp}), json!({"a": 2}), json!({"at": true}))
        };

        assert_eq!(found(&shown(1), &shown(2)), []);
    }

    #[test]
    fn what_is_lost_is_compared_as_it_is() {
        let delete = |id: &str| plan(&["delete"], json!({"id": id}), Value::Null, json!({}));
        let replace =
            |id: &str| plan(&["delete", "create"], json!({"id": id}), json!({}), json!({"id": true}));

        assert_eq!(told(&delete("1"), &delete("2")), ["id before: \"1\" \"2\""]);
        assert_eq!(told(&replace("1"), &replace("2")), ["id before: \"1\" \"2\""]);
        assert_eq!(found(&replace("1"), &replace("1")), []);
    }

    #[test]
    fn another_action_and_another_address_are_told() {
        let shown = updated(json!({"a": 1}), json!({"a": 2}));
        let replaced = plan(&["delete", "create"], json!({"a": 1}), json!({"a": 2}), json!({"id": true}));

        assert_eq!(found(&shown, &replaced)[0].shown_action, Some(Action::Update));
        let new = &found(&json!({}), &replaced)[0];
        assert_eq!((new.action, new.shown_action, new.address.as_str()), (Action::Replace, None, "vm.a"));
    }

    #[test]
    fn of_a_replacement_the_second_half_may_be_left() {
        let shown = plan(&["delete", "create"], json!({"a": 1}), json!({"a": 2}), json!({"id": true}));
        let rest = |a: u32| plan(&["create"], Value::Null, json!({"a": a}), json!({"id": true}));

        assert_eq!(found(&shown, &rest(2)), []);
        assert_eq!(told(&shown, &rest(3)), ["a: 2 3"]);
        assert_eq!(found(&rest(2), &shown).len(), 1);
    }

    #[test]
    fn the_order_of_a_replacement_moves_and_imports_are_compared() {
        let first = plan(&["delete", "create"], json!({}), json!({}), json!({}));
        let last = plan(&["create", "delete"], json!({}), json!({}), json!({}));
        let moved = |from: &str| {
            json!({"resource_changes": [{"address": "vm.a", "previous_address": from,
                "change": {"actions": ["no-op"], "before": {}, "after": {}}}]})
        };
        let imported = |id: &str| {
            json!({"resource_changes": [{"address": "vm.a",
                "change": {"actions": ["no-op"], "before": {}, "after": {}, "importing": {"id": id}}}]})
        };

        assert_eq!(told(&first, &last).len(), 1);
        assert_eq!(told(&moved("vm.b"), &moved("vm.c")), ["moved from: \"vm.b\" \"vm.c\""]);
        assert_eq!(found(&moved("vm.b"), &moved("vm.b")), []);
        assert_eq!(told(&imported("1"), &imported("2")).len(), 1);
    }

    #[test]
    fn outputs_are_compared_and_data_sources_are_not() {
        let output = |actions: &[&str], value: &str| json!({"output_changes": {"ip": {"actions": actions, "before": "a", "after": value}}});
        let read = json!({"resource_changes": [{"address": "data.x", "mode": "data",
            "change": {"actions": ["read"], "after": {"a": 1}}}]});

        assert_eq!(told(&output(&["update"], "b"), &output(&["update"], "c")), [": \"b\" \"c\""]);
        let new = found(&output(&["no-op"], "a"), &output(&["update"], "b"));
        assert_eq!((new[0].address.as_str(), new[0].shown_action), ("output.ip", None));
        assert_eq!(found(&json!({}), &read), []);
    }

    #[test]
    fn a_secret_is_compared_and_never_told() {
        let marked = |value: &str| {
            let after = json!({"input": value, "copy": format!("x-{value}"), "note": format!("{value}!")});
            let change = json!({"actions": ["create"], "after": after, "after_sensitive": {"input": true}});
            json!({"resource_changes": [{"address": "vm.a", "change": change}]})
        };
        let plain = |value: &str| plan(&["create"], Value::Null, json!({"a": value}), json!({}));

        let lines = told(&marked("first-one"), &marked("second-one"));
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines.iter().all(|line| line.ends_with(": (sensitive) (sensitive)")), "{lines:?}");
        assert_eq!(told(&plain("hunter2"), &plain("other")), ["a: (sensitive) (sensitive)"]);
        let keyed = |value: u32| plan(&["create"], Value::Null, json!({"hunter2": value}), json!({}));
        assert_eq!(told(&keyed(1), &keyed(2)), ["(redacted): 1 2"]);
    }

    #[test]
    fn a_document_of_any_shape_is_no_panic() {
        let odd = json!({"resource_changes": [1, {"change": {"actions": ["explode"], "after": [1]}}, null],
            "output_changes": [], "variables": 3});

        assert_eq!(found(&json!([]), &odd).len(), 1);
        assert_eq!(found(&odd, &json!(null)), []);
    }
}
