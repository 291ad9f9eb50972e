//! The section `inventory` of `infra.yaml`: where types of resources keep a machine's name, address and tags.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::fault::YamlSource;
use crate::error::Result;
use crate::model::InventoryRule;

/// How machines are found in states.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InventoryConfig {
    /// Types of resources that are machines, with where each keeps what an inventory wants.
    #[schemars(with = "BTreeMap<String, Option<RuleConfig>>")]
    resources: BTreeMap<String, Spanned<Option<RuleConfig>>>,
}

/// Where the resources of one type keep what an inventory wants: paths with dots, such as
/// `network_interface.0.ip`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RuleConfig {
    /// The machine's name; `name`, `hostname` or `id` by default.
    #[schemars(with = "Option<String>")]
    name: Option<Spanned<String>>,
    /// The address or the name by which it is reached.
    #[schemars(with = "Option<String>")]
    address: Option<Spanned<String>>,
    /// Its tags: a list of words, or a map.
    #[schemars(with = "Option<String>")]
    tags: Option<Spanned<String>>,
}

impl InventoryConfig {
    /// Returns the rules by type.
    pub fn into_rules(self) -> BTreeMap<String, InventoryRule> {
        let value = |path: Option<Spanned<String>>| path.map(|path| path.value);
        let rule = |rule: RuleConfig| InventoryRule {
            name: value(rule.name),
            address: value(rule.address),
            tags: value(rule.tags),
        };
        let rules = self.resources.into_iter();
        rules.map(|(kind, config)| (kind, rule(config.value.unwrap_or_default()))).collect()
    }
}

/// Checks that types and paths can be some.
pub(super) fn check_rules(config: &InventoryConfig, source: &YamlSource<'_>) -> Result<()> {
    for (kind, rule) in &config.resources {
        check_type(kind, rule.referenced, source)?;
        let rule = rule.value.iter().flat_map(|rule| [&rule.name, &rule.address, &rule.tags]);
        rule.flatten().try_for_each(|path| check_path(kind, path, source))?;
    }
    Ok(())
}

fn check_type(kind: &str, place: Location, source: &YamlSource<'_>) -> Result<()> {
    let is_sign = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '-';
    if !kind.is_empty() && kind.chars().all(is_sign) {
        return Ok(());
    }
    let message =
        format!("`resources` of `inventory` has `{}`, which is no type of a resource", kind.escape_debug());
    let wrong = source.wrong(place, message);
    Err(wrong.hint("write the type alone, such as `libvirt_domain`: a rule is for all resources of it"))
}

fn check_path(kind: &str, path: &Spanned<String>, source: &YamlSource<'_>) -> Result<()> {
    let is_step = |step: &str| !step.trim().is_empty() && !step.contains(['[', ']']);
    if path.value.split('.').all(is_step) {
        return Ok(());
    }
    let message = format!("a path of `{kind}` must be names with dots between them, found `{}`", path.value);
    let wrong = source.wrong(path.referenced, message);
    Err(wrong.hint("steps are names and numbers of attributes: `network_interface.0.ip`, `tags`"))
}
