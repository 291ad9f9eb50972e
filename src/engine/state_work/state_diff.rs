//! What two states differ in, resource by resource, with sensitive values masked.
//!
//! Pure: two states in, changes out. A value counts as sensitive if tofu says so for its
//! attribute, or for an output, and so does every other value that contains it, see
//! [`super::state_secrets`].

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::engine::state_content::{
    MASK, addressed_instances, collect_leaves, is_telling, items, marked_leaves, unframed,
};
use crate::model::{Mask, Safe};

/// What differs between two states.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StateDiff {
    /// Resources, sorted by address.
    pub resources: Vec<ResourceChange>,
    /// Outputs, sorted by name.
    pub outputs: Vec<ResourceChange>,
}

/// One resource, or one output, that differs.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ResourceChange {
    /// Its address, or its name.
    pub address: String,
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
    /// For a change: each attribute with its value before and after.
    pub attributes: Vec<(String, String, String)>,
}

/// One side of a comparison: attributes as text, and which of them are sensitive.
#[derive(Clone, Debug, Default)]
struct DiffSide {
    attributes: BTreeMap<String, Value>,
    sensitive: Vec<String>,
    /// The texts and numbers that are sensitive.
    secrets: Vec<String>,
}

/// What must not be shown of a resource.
#[derive(Clone, Copy, Debug)]
struct SecretTexts<'a> {
    /// Texts that tell on any value that contains them.
    anywhere: &'a [String],
    /// Texts and numbers that tell on a value that equals one.
    own: &'a [String],
}

/// Compares two states; what is no state counts as empty.
pub fn diff_states(before: &[u8], after: &[u8]) -> StateDiff {
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    let (before, after) = (read(before), read(after));
    let (old, new) = ((resources(&before), outputs(&before)), (resources(&after), outputs(&after)));
    let all = [&old.0, &old.1, &new.0, &new.1];
    let secrets = all.into_iter().flat_map(BTreeMap::values).flat_map(|side| side.secrets.clone());
    let secrets: Vec<String> = secrets.filter(|text| is_telling(text)).collect();
    StateDiff { resources: compare(&old.0, &new.0, &secrets), outputs: compare(&old.1, &new.1, &secrets) }
}

/// Returns whether any text or number in a value is, or contains, what must not be shown.
fn tells(value: &Value, hidden: SecretTexts<'_>) -> bool {
    let mut leaves = Vec::new();
    collect_leaves(value, &mut leaves);
    let told = |leaf: &String| {
        hidden.own.contains(leaf) || hidden.anywhere.iter().any(|secret| leaf.contains(secret.as_str()))
    };
    leaves.iter().any(told)
}

impl StateDiff {
    /// Returns it with everything masked that comes out of the states.
    pub fn masked(mut self, mask: &dyn Mask) -> Self {
        let safe = |text: &mut String| *text = Safe::through(mask, text).into();
        for change in self.resources.iter_mut().chain(&mut self.outputs) {
            safe(&mut change.address);
            for (name, before, after) in &mut change.attributes {
                // What stood, or stands, in the place of a secret is one too.
                let is_secret = |text: &String| Safe::through(mask, text).as_str() != text;
                if [&*before, &*after].into_iter().any(is_secret) {
                    [&mut *before, after]
                        .into_iter()
                        .filter(|text| *text != "null")
                        .for_each(|text| *text = MASK.to_owned());
                }
                safe(name);
            }
        }
        self
    }

    /// Returns whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.outputs.is_empty()
    }
}

fn compare(
    before: &BTreeMap<String, DiffSide>,
    after: &BTreeMap<String, DiffSide>,
    secrets: &[String],
) -> Vec<ResourceChange> {
    let mut changes: Vec<ResourceChange> = Vec::new();
    for address in before.keys().chain(after.keys().filter(|address| !before.contains_key(*address))) {
        let plain =
            |change| Some(ResourceChange { address: address.clone(), change, attributes: Vec::new() });
        changes.extend(match (before.get(address), after.get(address)) {
            (Some(_), None) => plain("removed"),
            (None, Some(_)) => plain("added"),
            (Some(old), Some(new)) => changed(address, old, new, secrets),
            (None, None) => None,
        });
    }
    changes.sort_by(|one, other| one.address.cmp(&other.address));
    changes
}

fn changed(address: &str, old: &DiffSide, new: &DiffSide, secrets: &[String]) -> Option<ResourceChange> {
    let names =
        old.attributes.keys().chain(new.attributes.keys().filter(|name| !old.attributes.contains_key(*name)));
    let is_sensitive = |name: &String| old.sensitive.contains(name) || new.sensitive.contains(name);
    let own = [old.secrets.as_slice(), new.secrets.as_slice()].concat();
    let hidden = SecretTexts { anywhere: secrets, own: &own };
    let mut attributes = Vec::new();
    for name in names {
        let (one, other) = (old.attributes.get(name), new.attributes.get(name));
        if one == other {
            continue;
        }
        let shown = |value: Option<&Value>| match value {
            None | Some(Value::Null) => "null".to_owned(),
            Some(value) if is_sensitive(name) || tells(value, hidden) => MASK.to_owned(),
            Some(value) => unframed(value).to_string(),
        };
        attributes.push((name.clone(), shown(one), shown(other)));
    }
    attributes.sort();
    let change = "changed";
    (!attributes.is_empty()).then(|| ResourceChange { address: address.to_owned(), change, attributes })
}

fn resources(state: &Value) -> BTreeMap<String, DiffSide> {
    addressed_instances(state).into_iter().map(|(address, instance)| (address, side_of(instance))).collect()
}

fn side_of(instance: &Value) -> DiffSide {
    let attributes = instance["attributes"].as_object().cloned().unwrap_or_default();
    let paths = items(&instance["sensitive_attributes"]);
    // Whatever lies below a sensitive part: the whole attribute is masked.
    let sensitive = paths.filter_map(|path| Some(path.get(0)?.get("value")?.as_str()?.to_owned()));
    DiffSide {
        sensitive: sensitive.collect(),
        attributes: attributes.into_iter().collect(),
        secrets: marked_leaves(instance),
    }
}

fn outputs(state: &Value) -> BTreeMap<String, DiffSide> {
    let outputs = state["outputs"].as_object().cloned().unwrap_or_default();
    let read = |output: &Value| {
        let is_sensitive = output["sensitive"] == true;
        let mut secrets = Vec::new();
        collect_leaves(&output["value"], &mut secrets);
        DiffSide {
            attributes: BTreeMap::from([("value".to_owned(), output["value"].clone())]),
            sensitive: if is_sensitive { vec!["value".to_owned()] } else { Vec::new() },
            secrets: if is_sensitive { secrets } else { Vec::new() },
        }
    };
    outputs.iter().map(|(name, output)| (name.clone(), read(output))).collect()
}

#[cfg(test)]
mod tests {
    use crate::secrets::redactor::Redactor;
    use serde_json::json;

    use super::*;

    fn state(instances: &Value, outputs: &Value) -> Vec<u8> {
        let resource = json!({"module": "module.m", "mode": "managed", "type": "t", "name": "n", "instances": instances});
        json!({"version": 4, "resources": [resource], "outputs": outputs}).to_string().into_bytes()
    }

    #[test]
    fn resources_are_added_removed_and_changed_by_address() {
        let before = state(
            &json!([{"index_key": 0, "attributes": {"a": 1, "b": 2}}, {"index_key": "x", "attributes": {}}]),
            &json!({}),
        );
        let after =
            state(&json!([{"index_key": 0, "attributes": {"a": 1, "b": 3}}, {"attributes": {}}]), &json!({}));

        let diff = diff_states(&before, &after).resources;

        let told: Vec<_> = diff.iter().map(|change| (change.address.as_str(), change.change)).collect();
        assert_eq!(
            told,
            [("module.m.t.n", "added"), ("module.m.t.n[\"x\"]", "removed"), ("module.m.t.n[0]", "changed")]
        );
        assert_eq!(diff[2].attributes, [("b".to_owned(), "2".to_owned(), "3".to_owned())]);
    }

    #[test]
    fn a_sensitive_value_is_masked_on_both_sides() {
        let secret = json!([[{"type": "get_attr", "value": "password"}]]);
        let side = |value: &str, marks: &Value| {
            let copy = format!("copied-{value}");
            let instance =
                json!([{"attributes": {"password": value, "copy": copy}, "sensitive_attributes": marks}]);
            state(&instance, &json!({"o": {"value": value, "sensitive": true}}))
        };

        let diff = diff_states(&side("hunter2", &json!([])), &side("hunter3", &secret));

        let shown = format!("{diff:?}");
        assert!(shown.contains(MASK) && !shown.contains("hunter"), "{shown}");
        assert_eq!((diff.resources.len(), diff.outputs.len()), (1, 1));
    }

    #[test]
    fn a_number_and_a_short_text_are_masked_like_any_other() {
        let marks = json!([[{"type": "get_attr", "value": "input"}], [{"type": "get_attr", "value": "pin"}]]);
        let side = |text: &str, pin: u32, plain: u32| {
            let attributes = json!({"input": text, "output": text, "pin": pin, "copy": pin, "plain": plain});
            state(&json!([{"attributes": attributes, "sensitive_attributes": marks}]), &json!({}))
        };

        let diff = diff_states(&side("abc", 731, 5), &side("xyz", 902, 6));

        let shown = format!("{diff:?}");
        for secret in ["abc", "xyz", "731", "902"] {
            assert!(!shown.contains(secret), "{secret}: {shown}");
        }
        assert!(shown.contains(r#"("plain", "5", "6")"#), "{shown}");
    }

    #[test]
    fn what_stood_in_the_place_of_a_secret_is_masked_too() {
        let attribute = |before: &str, after: &str| ("input".to_owned(), before.to_owned(), after.to_owned());
        let attributes = vec![attribute("\"old-token\"", "\"new-token\""), attribute("\"a\"", "\"b\"")];
        let change = ResourceChange { address: "x.y".to_owned(), change: "changed", attributes };
        let mask = Redactor::new([b"new-token".as_slice()]).expect("a redactor");

        let diff = StateDiff { resources: vec![change], outputs: Vec::new() }.masked(&mask);

        let masked = (MASK.to_owned(), MASK.to_owned());
        let shown: Vec<(String, String)> = diff.resources[0]
            .attributes
            .iter()
            .map(|(_, before, after)| (before.clone(), after.clone()))
            .collect();
        assert_eq!(shown, [masked, ("\"a\"".to_owned(), "\"b\"".to_owned())]);
    }

    #[test]
    fn the_same_state_differs_in_nothing() {
        let one = state(&json!([{"attributes": {"a": 1}}]), &json!({"o": {"value": 1}}));

        assert!(diff_states(&one, &one).is_empty());
        assert!(diff_states(b"", b"nonsense").is_empty());
    }
}
