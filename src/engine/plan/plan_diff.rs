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
mod tests;
