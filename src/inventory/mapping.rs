//! The rules of `infra.yaml`: where a type that nobody knows here keeps a machine's name, address and tags.

use std::collections::BTreeMap;

use serde_json::Value;

use super::addresses::{Addresses, address_of, network_name};
use super::lookup::{at_path, pairs_of, texts_at, unframed};
use super::machine::Machine;
use crate::model::InventoryRule;

/// Applies the rule of a type to what a reader found, or to nothing; adds paths that lead nowhere.
pub(super) fn mapped(
    rule: &InventoryRule,
    attributes: &Value,
    read: Option<Machine>,
    nowhere: &mut Vec<String>,
) -> Machine {
    let mut machine = read.unwrap_or_else(|| Machine::named(attributes, &["name", "hostname", "id"]));
    let mut found = |path: &Option<String>| {
        let path = path.as_deref()?;
        let values = at_path(attributes, path);
        if values.is_empty() {
            nowhere.push(path.to_owned());
        }
        Some((path.to_owned(), values))
    };
    if let Some((path, _)) = found(&rule.name) {
        let names = texts_at(attributes, &path);
        machine.names.splice(0..0, names);
    }
    if let Some((path, values)) = found(&rule.address) {
        let texts = texts_at(attributes, &path).into_iter();
        let texts = texts.chain(values.iter().flat_map(|value| pairs_of(value)).map(|(_, text)| text));
        machine.addresses = addresses(texts.collect());
    }
    if let Some((path, values)) = found(&rule.tags) {
        machine.tags = texts_at(attributes, &path);
        machine.labels = labels(&values);
    }
    machine
}

/// Returns what these texts say of a machine's address: the first that is one wins over names.
fn addresses(texts: Vec<String>) -> Addresses {
    let mut addresses = Addresses::default();
    texts.iter().filter(|text| address_of(text).is_some()).for_each(|text| addresses.add(text));
    addresses.name = match addresses.best() {
        Some(_) => None,
        None => texts.iter().find_map(|text| network_name(text)),
    };
    addresses
}

/// Returns pairs: those of a map, or those of a list of maps with `key` and `value`.
fn labels(values: &[&Value]) -> Vec<(String, String)> {
    let mut labels = BTreeMap::new();
    for value in values {
        let items = unframed(value).as_array().map_or_else(|| vec![*value], |list| list.iter().collect());
        for item in items {
            let pairs = pairs_of(item);
            let part = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
            match (part("key"), part("value")) {
                (Some(key), Some(value)) if pairs.len() <= 3 => _ = labels.insert(key, value),
                _ => labels.extend(pairs),
            }
        }
    }
    labels.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(name: &str, address: &str, tags: &str) -> InventoryRule {
        let path = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        InventoryRule { name: path(name), address: path(address), tags: path(tags) }
    }

    #[test]
    fn a_rule_finds_name_address_and_tags_of_any_type() {
        let attributes = json!({"id": "x", "input": {"type": ["object", {}], "value": {
            "host": "h", "ips": ["fe80::1", "10.0.0.1/24", "203.0.113.7"], "labels": {"role": "db", "n": 2}}}});
        let mut nowhere = Vec::new();

        let found = mapped(&rule("input.host", "input.ips", "input.labels"), &attributes, None, &mut nowhere);

        assert_eq!(found.names, ["h", "x"]);
        assert_eq!(found.addresses.best().as_deref(), Some("203.0.113.7"));
        assert_eq!(found.labels, [("n".to_owned(), "2".to_owned()), ("role".to_owned(), "db".to_owned())]);
        assert_eq!(nowhere, [""; 0]);
    }

    #[test]
    fn a_rule_may_lead_to_a_name_in_the_network_and_to_words_as_tags() {
        let attributes = json!({"name": "n", "fqdn": "db.example.com", "words": ["a", "b"], "mode": "dhcp"});
        let mut nowhere = Vec::new();

        let found = mapped(&rule("", "fqdn", "words"), &attributes, None, &mut nowhere);
        let none = mapped(&rule("wrong.path", "mode", ""), &attributes, None, &mut nowhere);

        assert_eq!(found.addresses.best().as_deref(), Some("db.example.com"));
        assert_eq!(found.tags, ["a", "b"]);
        assert_eq!((none.addresses.best(), none.names), (None, vec!["n".to_owned()]));
        assert_eq!(nowhere, ["wrong.path"]);
    }
}
