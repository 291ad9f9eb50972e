//! What must not leave a state: attributes that the state marks, and those whose name says what they hold.
//!
//! A state marks only what a configuration called sensitive; what the schema of a provider calls so, such
//! as the password of an account, is not marked there, and no provider is asked here. So names decide too.
//! Both are cut out before anything else looks at the attributes, so that no reader and no rule of a
//! project can bring them back. Begin at [`cut`].

use serde_json::Value;

use super::lookup::unframed;
use crate::model::Mask;

/// A text with fewer characters may stand inside another one by chance.
const SHORTEST: usize = 8;

/// Parts of names of attributes that hold secrets, or what a machine runs when it begins.
const TELLING: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "privatekey",
    "apikey",
    "accesskey",
    "credential",
    "adminpass",
    "userdata",
    "customdata",
    "cloudinit",
    "startupscript",
    "sshkey",
    "authorizedkey",
];

/// Ends of such names, which are common inside others.
const TELLING_ENDS: &[&str] = &["token", "keys"];

/// The attributes of an instance without what is sensitive.
#[derive(Debug)]
pub(super) struct Cut {
    pub attributes: Value,
    /// The texts that were cut out because they are secret; a provider may have copied them.
    pub secrets: Vec<String>,
}

/// Cuts out of the attributes of an instance what is sensitive.
pub(super) fn cut(instance: &Value) -> Cut {
    let (mut attributes, mut secrets) = (instance["attributes"].clone(), Vec::new());
    for path in instance["sensitive_attributes"].as_array().into_iter().flatten() {
        let steps: Vec<&Value> = path.as_array().into_iter().flatten().map(key_of).collect();
        collect_texts(&remove(&mut attributes, &steps), &mut secrets);
    }
    remove_named(&mut attributes, &mut secrets);
    Cut { attributes, secrets }
}

/// Returns the name or the number that a step of a path leads to.
fn key_of(step: &Value) -> &Value {
    if step["type"] == "index" { &step["value"]["value"] } else { &step["value"] }
}

/// Takes out what a path leads to, or the part up to which it can be followed.
fn remove(within: &mut Value, steps: &[&Value]) -> Value {
    let Some((first, rest)) = steps.split_first() else { return within.take() };
    let next = match (first, &mut *within) {
        (Value::String(key), Value::Object(map)) if map.contains_key(key) => map.get_mut(key),
        // The value of an attribute of any type stands in a frame with its type.
        (_, Value::Object(map)) if map.len() == 2 && map.contains_key("type") => {
            return map.get_mut("value").map_or(Value::Null, |inner| remove(inner, steps));
        }
        (Value::Number(index), Value::Array(list)) => {
            index.as_u64().and_then(|index| list.get_mut(usize::try_from(index).ok()?))
        }
        _ => None,
    };
    match next {
        Some(next) => remove(next, rest),
        None => within.take(),
    }
}

fn remove_named(value: &mut Value, secrets: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let named: Vec<String> = map.keys().filter(|name| is_telling_name(name)).cloned().collect();
            for name in named {
                let removed = map.remove(&name).unwrap_or_default();
                // What a key pair is called is no secret, and may be the name of anything else.
                if plain(&name).contains("pass") || plain(&name).contains("secret") {
                    collect_texts(&removed, secrets);
                }
            }
            map.values_mut().for_each(|value| remove_named(value, secrets));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| remove_named(value, secrets)),
        _ => {}
    }
}

/// Returns whether a name says that its value is not for everybody.
pub(super) fn is_telling_name(name: &str) -> bool {
    let name = plain(name);
    TELLING.iter().any(|part| name.contains(part)) || TELLING_ENDS.iter().any(|end| name.ends_with(end))
}

fn plain(name: &str) -> String {
    name.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn collect_texts(value: &Value, into: &mut Vec<String>) {
    match unframed(value) {
        Value::String(text) if !text.is_empty() => into.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| collect_texts(value, into)),
        Value::Object(map) => map.values().for_each(|value| collect_texts(value, into)),
        _ => {}
    }
}

/// What must not be told, of all states together.
pub(super) struct Hidden<'a> {
    everywhere: Vec<String>,
    mask: &'a dyn Mask,
}

impl<'a> Hidden<'a> {
    /// Takes what was cut out of resources and what sensitive outputs of these states hold.
    pub fn new<'b>(
        states: impl Iterator<Item = &'b Value>,
        cut: impl Iterator<Item = &'b String>,
        mask: &'a dyn Mask,
    ) -> Self {
        let mut everywhere: Vec<String> = cut.cloned().collect();
        for state in states {
            let outputs = state["outputs"].as_object().into_iter().flat_map(|outputs| outputs.values());
            let sensitive = outputs.filter(|output| output["sensitive"] == true);
            sensitive.for_each(|output| collect_texts(&output["value"], &mut everywhere));
        }
        everywhere.retain(|text| text.chars().count() >= SHORTEST);
        everywhere.sort();
        everywhere.dedup();
        Self { everywhere, mask }
    }

    /// Returns whether a text is, or contains, the value of an encrypted file.
    pub fn is_masked(&self, text: &str) -> bool {
        self.mask.masked(text) != text
    }

    /// Returns whether a text tells anything that is sensitive; `own` is what was cut out beside it.
    pub fn is_told_by(&self, text: &str, own: &[String]) -> bool {
        own.iter().any(|secret| secret == text)
            || self.everywhere.iter().any(|secret| text.contains(secret.as_str()))
            || self.is_masked(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(name: &str) -> Value {
        json!({"type": "get_attr", "value": name})
    }

    #[test]
    fn what_the_state_marks_is_gone_and_numbers_in_lists_stay_in_place() {
        let index = |at: Value| json!({"type": "index", "value": {"value": at, "type": "any"}});
        let instance = json!({
            "attributes": {"name": "n", "list": ["a", "b", "c"], "map": {"k": "v", "open": 1},
                "input": {"value": {"pin": "1234", "ok": true}, "type": ["object", {}]}},
            "sensitive_attributes": [
                [step("list"), index(json!(1))], [step("map"), index(json!("k"))], [step("input"), step("pin")]],
        });

        let Cut { attributes, secrets } = cut(&instance);

        assert_eq!(attributes["list"], json!(["a", null, "c"]));
        assert_eq!(attributes["map"], json!({"k": null, "open": 1}));
        assert_eq!(attributes["input"]["value"], json!({"pin": null, "ok": true}));
        assert_eq!(secrets, ["b", "v", "1234"]);
    }

    #[test]
    fn a_path_that_leads_nowhere_takes_the_part_that_it_reaches() {
        let instance = json!({"attributes": {"set": ["a"], "open": 1},
            "sensitive_attributes": [[step("set"), step("unknown")]]});

        assert_eq!(cut(&instance).attributes, json!({"set": null, "open": 1}));
        let all = json!({"attributes": {"a": 1}, "sensitive_attributes": [[]]});
        assert_eq!(cut(&all).attributes, Value::Null);
    }

    #[test]
    fn names_tell_passwords_and_what_a_machine_runs_at_its_start() {
        let telling = [
            "admin_pass",
            "adminPassword",
            "user_data",
            "user-data",
            "user_data_base64",
            "custom_data",
            "cloud_init",
            "cloud-init.user-data",
            "ssh_authorized_keys",
            "ssh-keys",
            "keys",
            "client_token",
            "api_key",
            "DB_PASSWORD",
        ];
        let open = ["name", "tags", "key_name", "key_pair", "keyboard_layout", "tokens_per_hour", "vm_id"];

        assert!(telling.iter().all(|name| is_telling_name(name)));
        assert!(!open.iter().any(|name| is_telling_name(name)));
    }
}
