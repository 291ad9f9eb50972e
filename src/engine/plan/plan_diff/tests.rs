//! Tests: when two plans count as the same, and how a difference is told.

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
    values.map(|value| format!("{}{}: {} {}", value.path, moment(&value), value.shown, value.now)).collect()
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
    let seen = updated(json!({"memory": 8, "seen": 2, "cpu": 1}), json!({"memory": 16, "seen": 2, "cpu": 1}));
    let more = updated(json!({"memory": 8, "seen": 1, "cpu": 1}), json!({"memory": 16, "seen": 1, "cpu": 2}));
    let drifted =
        updated(json!({"memory": 9, "seen": 1, "cpu": 1}), json!({"memory": 16, "seen": 1, "cpu": 1}));

    assert_eq!(found(&shown, &seen), []);
    assert_eq!(told(&shown, &more), ["cpu: 1 2"]);
    assert_eq!(told(&shown, &drifted), ["memory before: 8 9"]);
}

#[test]
fn a_value_that_becomes_unknown_does_not_bind_what_was_before_it() {
    let shown =
        |stamp: u32| plan(&["update"], json!({"a": 1, "at": stamp}), json!({"a": 2}), json!({"at": true}));

    assert_eq!(found(&shown(1), &shown(2)), []);
}

#[test]
fn what_is_lost_is_compared_as_it_is() {
    let delete = |id: &str| plan(&["delete"], json!({"id": id}), Value::Null, json!({}));
    let replace = |id: &str| plan(&["delete", "create"], json!({"id": id}), json!({}), json!({"id": true}));

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
