//! What a plan file itself says that it does to resources: more than the messages of the plan tell,
//! and all there is of a plan whose record proves nothing.

use serde_json::Value;

use super::plan_value::{Step, steps_of};
use crate::model::{Action, Mask, ResourceChange, Safe};

/// Returns the changes of resources and how many outputs change, from `tofu show -json PLAN`.
pub fn changes_in(plan: &Value, mask: &dyn Mask) -> (Vec<ResourceChange>, usize) {
    let resources = plan["resource_changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let outputs = plan["output_changes"].as_object();
    let changed = |output: &&Value| output["actions"] != serde_json::json!(["no-op"]);
    let outputs = outputs.map_or(0, |outputs| outputs.values().filter(changed).count());
    (resources.iter().filter_map(|resource| change_of(resource, mask)).collect(), outputs)
}

fn change_of(resource: &Value, mask: &dyn Mask) -> Option<ResourceChange> {
    let address = Safe::through(mask, resource["address"].as_str()?);
    let action = action_of(&resource["change"], !resource["previous_address"].is_null())?;
    let paths = resource["change"]["replace_paths"].as_array().into_iter().flatten();
    let replace_because = paths.map(|path| Safe::through(mask, &Step::written(&steps_of(path)))).collect();
    let words = resource["change"]["actions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let actions: Vec<String> = words.map(str::to_owned).collect();
    let actions = if actions == action.words() { Vec::new() } else { actions };
    Some(ResourceChange { address, action, actions, replace_because })
}

/// Adds to changes what only the plan file knows of them: the order of a replacement, and its causes.
pub fn complete(changes: &mut [ResourceChange], plan: &Value, mask: &dyn Mask) {
    let (mut known, _) = changes_in(plan, mask);
    for change in changes {
        let is_it = |other: &ResourceChange| other.address == change.address && other.action == change.action;
        if let Some(at) = known.iter().position(is_it) {
            *change = known.swap_remove(at);
        }
    }
}

/// Returns what a change does, if anything; an action that is not known counts as the gravest of the like.
pub(super) fn action_of(change: &Value, moves: bool) -> Option<Action> {
    let actions: Vec<&str> =
        change["actions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    match actions.as_slice() {
        ["no-op"] | [] if !change["importing"].is_null() => Some(Action::Import),
        ["no-op"] | [] if moves => Some(Action::Move),
        ["no-op"] | [] => None,
        ["create"] => Some(Action::Create),
        ["update"] => Some(Action::Update),
        ["delete"] => Some(Action::Delete),
        ["read"] => Some(Action::Read),
        ["forget"] => Some(Action::Forget),
        _ => Some(Action::Replace),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::redactor::Redactor;

    #[test]
    fn actions_are_read_and_what_stays_as_it_is_is_left_out() {
        let plan = serde_json::json!({
            "resource_changes": [
                {"address": "a.b", "change": {"actions": ["create"]}},
                {"address": "a.c", "change": {"actions": ["delete", "create"]}},
                {"address": "a.d", "change": {"actions": ["no-op"]}},
            ],
            "output_changes": {"o": {"actions": ["update"]}, "p": {"actions": ["no-op"]}},
        });

        let (changes, outputs) = changes_in(&plan, &Redactor::default());

        let expected = [("a.b", Action::Create), ("a.c", Action::Replace)];
        let found: Vec<(&str, Action)> =
            changes.iter().map(|change| (change.address.as_str(), change.action)).collect();
        assert_eq!((found.as_slice(), outputs), (expected.as_slice(), 1));
        assert_eq!(changes_in(&Value::Null, &Redactor::default()), (Vec::new(), 0));
    }
}
