//! The `lint:` section: how grave each rule is. A key for each rule, so that a misspelt one is told with
//! its place, and editors know them all.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use crate::model::{LintLevel, LintRule, LintSettings};

/// What `infra lint` judges.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LintConfig {
    /// How grave the findings of each rule are.
    pub rules: RulesConfig,
}

/// `lint.rules` as written.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RulesConfig {
    /// A module comes from a path of the project or from a registry.
    module_source: Option<Level>,
    /// A module of a registry is pinned with `~>`.
    module_version_pin: Option<Level>,
    /// A module has main.tf, variables.tf, outputs.tf and README.md.
    module_required_files: Option<Level>,
    /// A module's README names its variables and outputs.
    module_readme: Option<Level>,
    /// A variable of a module has a type.
    variable_type: Option<Level>,
    /// A variable of a module has a description.
    variable_description: Option<Level>,
    /// An output of a module has a description.
    output_description: Option<Level>,
    /// A provider of a stack is pinned with `~>`.
    provider_version_pin: Option<Level>,
    /// A stack with providers has a lock file that git takes.
    lock_file_committed: Option<Level>,
    /// No two stacks write one state.
    state_identity_unique: Option<Level>,
    /// A state has an entry in infra.lock.
    state_lock_missing: Option<Level>,
    /// No secret stands in the clear.
    plaintext_secret: Option<Level>,
    /// A file can be read.
    file_syntax: Option<Level>,
    /// A comment that ignores a rule names it and gives a reason.
    ignore_comment: Option<Level>,
}

impl LintConfig {
    /// Returns the settings of the rules that are named.
    pub fn settings(&self) -> LintSettings {
        let named = LintRule::ALL.into_iter().filter_map(|rule| Some((rule, self.rules.of(rule)?)));
        LintSettings { levels: named.map(|(rule, level)| (rule, level.0)).collect() }
    }
}

impl RulesConfig {
    const fn of(&self, rule: LintRule) -> Option<Level> {
        match rule {
            LintRule::ModuleSource => self.module_source,
            LintRule::ModuleVersionPin => self.module_version_pin,
            LintRule::ModuleRequiredFiles => self.module_required_files,
            LintRule::ModuleReadme => self.module_readme,
            LintRule::VariableType => self.variable_type,
            LintRule::VariableDescription => self.variable_description,
            LintRule::OutputDescription => self.output_description,
            LintRule::ProviderVersionPin => self.provider_version_pin,
            LintRule::LockFileCommitted => self.lock_file_committed,
            LintRule::StateIdentityUnique => self.state_identity_unique,
            LintRule::StateLockMissing => self.state_lock_missing,
            LintRule::PlaintextSecret => self.plaintext_secret,
            LintRule::FileSyntax => self.file_syntax,
            LintRule::IgnoreComment => self.ignore_comment,
        }
    }
}

/// A level as written; `off` is a truth value to some readers of YAML.
#[derive(Clone, Copy, Debug)]
struct Level(LintLevel);

/// The words for levels, for the error about another one.
const WORDS: [&str; 4] = ["error", "warning", "note", "off"];

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LevelVisitor)
    }
}

struct LevelVisitor;

impl Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`error`, `warning`, `note` or `off`")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Level, E> {
        match value {
            false => Ok(Level(LintLevel::Off)),
            true => Err(E::unknown_variant("on", &WORDS)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Level, E> {
        let known = LintLevel::ALL.into_iter().find(|level| level.word() == text);
        known.map(Level).ok_or_else(|| E::unknown_variant(text, &WORDS))
    }
}

impl JsonSchema for Level {
    fn schema_name() -> Cow<'static, str> {
        "LintLevel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": ["error", "warning", "note", "off", false]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::infra_schema;

    #[test]
    fn the_schema_names_every_rule_with_what_it_says() {
        let schema = infra_schema();

        let rules = schema["$defs"]["RulesConfig"]["properties"].as_object().expect("a map of rules");
        let mut expected: Vec<&str> = LintRule::ALL.iter().map(|rule| rule.name()).collect();
        let mut named: Vec<&str> = rules.keys().map(String::as_str).collect();
        expected.sort_unstable();
        named.sort_unstable();
        assert_eq!(named, expected);
        assert!(rules.values().all(|rule| rule["description"].is_string()));
    }

    #[test]
    fn every_level_has_its_word() {
        assert_eq!(LintLevel::ALL.map(LintLevel::word), WORDS);
    }
}
