//! The keys of a creation rule, in all the spellings that sops takes.

use serde_json::Value as Json;

use super::GroupRule;
use crate::error::Result;
use crate::secrets::sops::refusal::refused;

/// Settings of keys that only the real sops can use, and what the metadata calls them.
const FOREIGN: [(&str, &str); 8] = [
    ("pgp", "pgp"),
    ("kms", "kms"),
    ("gcp_kms", "gcp_kms"),
    ("hckms", "hckms"),
    ("azure_keyvault", "azure_kv"),
    ("hc_vault", "hc_vault"),
    ("hc_vault_transit_uri", "hc_vault"),
    ("plugins", "plugin"),
];

/// What names a key that is written as a map.
const NAMING: [&str; 5] = ["arn", "resource_id", "key_id", "key", "binary_name"];

/// How deep groups may be merged into groups.
const DEEPEST: usize = 16;

/// Returns the groups of a rule: `key_groups`, or one group of everything else.
pub(super) fn groups(rule: &Json) -> Result<Vec<GroupRule>> {
    match rule.get("key_groups").and_then(Json::as_array) {
        Some(groups) if !groups.is_empty() => groups.iter().map(|entry| group(entry, 0)).collect(),
        Some(_) | None => Ok(vec![group(rule, 0)?]),
    }
}

fn group(entry: &Json, depth: usize) -> Result<GroupRule> {
    if depth > DEEPEST {
        return Err(refused("`key_groups` are merged too deeply"));
    }
    let mut made = GroupRule::default();
    for merged in entry.get("merge").and_then(Json::as_array).into_iter().flatten() {
        let merged = group(merged, depth + 1)?;
        made.recipients.extend(merged.recipients);
        made.foreign.extend(merged.foreign);
    }
    made.recipients.extend(words(entry, "age")?);
    for (setting, kind) in FOREIGN {
        made.foreign.extend(words(entry, setting)?.into_iter().map(|name| format!("{kind} {name}")));
    }
    Ok(GroupRule { recipients: without_repeats(made.recipients), foreign: without_repeats(made.foreign) })
}

/// Returns the names under a setting: a list, or a text with commas.
fn words(entry: &Json, setting: &str) -> Result<Vec<String>> {
    let wrong = || refused(format!("`{setting}` is no text and no list of texts"));
    match entry.get(setting) {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::String(text)) => Ok(split(text)),
        Some(Json::Array(entries)) => {
            let names = entries.iter().map(|entry| name(entry).ok_or_else(wrong));
            Ok(names.collect::<Result<Vec<_>>>()?.iter().flat_map(|name| split(name)).collect())
        }
        Some(_) => Err(wrong()),
    }
}

/// Splits a text at its commas.
pub(super) fn split(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns a setting that is a text; numbers and bools count as what they look like.
pub(super) fn text(rule: &Json, setting: &str) -> Option<String> {
    let value = rule.get(setting)?;
    match value {
        Json::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

fn name(entry: &Json) -> Option<String> {
    match entry {
        Json::Object(_) => NAMING.iter().find_map(|naming| text(entry, naming)),
        Json::String(_) | Json::Number(_) => {
            Some(entry.as_str().map_or_else(|| entry.to_string(), str::to_owned))
        }
        Json::Null | Json::Bool(_) | Json::Array(_) => None,
    }
}

fn without_repeats(names: Vec<String>) -> Vec<String> {
    let mut kept = Vec::with_capacity(names.len());
    for name in names {
        if !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}
