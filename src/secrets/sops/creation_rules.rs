//! `.sops.yaml`: for whom a new file is encrypted, and how it is laid out.
//!
//! Looked up from a folder upwards; the first rule whose `path_regex` matches the path
//! relative to the file wins. Names that mean nothing here are passed over, as sops does.

mod rule_keys;

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use self::rule_keys::text;
use super::format::Format;
use super::go_regex;
use super::mac::MacScope;
use super::refusal::refused;
use super::selection::Selection;
use super::stores::Layout;
use crate::error::{Error, Result};
use crate::model::Environment;

const FILE_NAME: &str = ".sops.yaml";
const RECIPIENTS: &str = "SOPS_AGE_RECIPIENTS";

/// How far up the file is looked for, as in sops.
const HIGHEST: usize = 100;

/// The widest indentation that is taken seriously.
const WIDEST: i64 = 64;

/// The keys of one group of a rule.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct GroupRule {
    /// age and ssh recipients.
    pub recipients: Vec<String>,
    /// Keys that only the real sops can use, by kind and name.
    pub foreign: Vec<String>,
}

/// For whom a file is encrypted, and what of it.
#[derive(Clone, Debug)]
pub struct CreationRule {
    /// The key groups; at least one.
    pub groups: Vec<GroupRule>,
    /// How many groups are needed; 0 stands for all.
    pub threshold: usize,
    /// Which values are encrypted.
    pub selection: Selection,
    /// What the MAC covers.
    pub mac_scope: MacScope,
}

/// A loaded `.sops.yaml`.
#[derive(Debug)]
pub struct CreationRules {
    path: PathBuf,
    document: Json,
}

impl CreationRules {
    /// Finds the file in a folder or above it, and loads it.
    pub fn find(dir: &Path) -> Result<Option<Self>> {
        let mut candidates = dir.ancestors().take(HIGHEST).map(|dir| dir.join(FILE_NAME));
        let Some(path) = candidates.find(|path| path.exists()) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(&path).map_err(|error| unreadable(&path).because(error))?;
        Self::parse(path, &text).map(Some)
    }

    /// Reads the text of a `.sops.yaml`.
    pub fn parse(path: PathBuf, text: &str) -> Result<Self> {
        let options = serde_saphyr::options! { with_snippet: false };
        let parsed = serde_saphyr::from_str_with_options::<Option<Json>>(text, options);
        let document = parsed.map_err(|error| unreadable(&path).because(error))?.unwrap_or(Json::Null);
        Ok(Self { path, document })
    }

    /// Returns where it was found.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the indentation that it asks for files of a format, in the terms of sops: 0 is the
    /// usual one in YAML, and so is -1 in JSON. What sops refuses is refused.
    pub fn layout(&self, format: Format) -> Result<Layout> {
        let usual = Layout::default();
        let (yaml, json) = (self.indent("yaml")?, self.indent("json")?);
        let binary = self.indent("json_binary")?;
        match format {
            Format::Yaml => {
                let indent = self.not_below("yaml", yaml.unwrap_or(0), 0)?;
                Ok(Layout { yaml_indent: if indent == 0 { usual.yaml_indent } else { indent }, ..usual })
            }
            Format::Json => Ok(Layout { json_indent: self.json_indent("json", json)?, ..usual }),
            Format::Binary => Ok(Layout { json_indent: self.json_indent("json_binary", binary)?, ..usual }),
            Format::Dotenv | Format::Ini => Ok(usual),
        }
    }

    fn json_indent(&self, store: &str, indent: Option<i64>) -> Result<Option<usize>> {
        match indent.unwrap_or(-1) {
            -1 => Ok(None),
            indent => self.not_below(store, indent, -1).map(Some),
        }
    }

    fn not_below(&self, store: &str, indent: i64, least: i64) -> Result<usize> {
        usize::try_from(indent.min(WIDEST)).map_err(|_| {
            self.odd_indent(store, &format!("a number of at least {least}"), &format!("`{indent}`"))
        })
    }

    /// Returns the indent of a store, if the file has one; sops cuts off what is behind a point.
    fn indent(&self, store: &str) -> Result<Option<i64>> {
        let found = self.document.get("stores").and_then(|stores| stores.get(store)?.get("indent"));
        let Some(found) = found.filter(|indent| !indent.is_null()) else { return Ok(None) };
        #[expect(clippy::cast_possible_truncation, reason = "it is cut off, as in sops")]
        let whole = found.as_i64().or_else(|| found.as_f64().map(|number| number as i64));
        whole.map(Some).ok_or_else(|| self.odd_indent(store, "a number", &format!("`{found}`")))
    }

    fn odd_indent(&self, store: &str, expected: &str, found: &str) -> Error {
        refused(format!("`stores.{store}.indent` must be {expected}"))
            .at(self.path.display())
            .fact("found", found)
    }

    /// Returns the first rule that matches a file; `None` where the file has no rules at all.
    fn rule_for(&self, file: &Path) -> Result<Option<&Json>> {
        let Some(rules) = self.document.get("creation_rules").filter(|rules| !rules.is_null()) else {
            return Ok(None);
        };
        let rules = rules.as_array().ok_or_else(|| refused("`creation_rules` is no list"))?;
        let relative = self.path.parent().and_then(|dir| file.strip_prefix(dir).ok()).unwrap_or(file);
        for rule in rules {
            if matches(rule, relative)? {
                return Ok(Some(rule));
            }
        }
        let paths =
            rules.iter().filter_map(|rule| text(rule, "path_regex")).map(|regex| format!("`{regex}`"));
        Err(refused(format!("no creation rule matches `{}`", relative.display()))
            .detail(format!("the rules are for {}", paths.collect::<Vec<_>>().join(", ")))
            .hint(format!("add a rule to `{}`", self.path.display())))
    }
}

/// Returns the rule for a file: from `.sops.yaml`, with `SOPS_AGE_RECIPIENTS` before its keys.
///
/// The path of the file is absolute. Like sops, `updatekeys` follows the file alone: hand it an
/// empty environment.
pub fn rule_for(rules: Option<&CreationRules>, file: &Path, env: &Environment) -> Result<CreationRule> {
    let found = match rules {
        Some(rules) => rules.rule_for(file).map_err(|error| error.at(rules.path.display()))?,
        None => None,
    };
    let rule = found.unwrap_or(&Json::Null);
    let from_env = env.get(RECIPIENTS).map(rule_keys::split);
    if found.is_none() && from_env.is_none() {
        return Err(refused(format!("nothing says for whom `{}` is encrypted", file.display()))
            .hint("put a rule for it into `.sops.yaml`, or recipients into `SOPS_AGE_RECIPIENTS`"));
    }
    let made = resolve(rule, from_env);
    made.map_err(|error| match rules {
        Some(rules) => error.at(rules.path.display()),
        None => error,
    })
}

fn resolve(rule: &Json, from_env: Option<Vec<String>>) -> Result<CreationRule> {
    let groups = match from_env {
        Some(recipients) => vec![GroupRule { recipients, foreign: Vec::new() }],
        None => rule_keys::groups(rule)?,
    };
    if groups.iter().any(|group| group.recipients.is_empty() && group.foreign.is_empty()) {
        return Err(refused("the creation rule names no key").hint("add `age: age1…` to the rule"));
    }
    let threshold = rule.get("shamir_threshold").and_then(Json::as_u64).unwrap_or(0);
    let only_encrypted = rule.get("mac_only_encrypted").and_then(Json::as_bool).unwrap_or(false);
    Ok(CreationRule {
        groups,
        threshold: usize::try_from(threshold).unwrap_or(usize::MAX),
        selection: Selection::from_settings(|name| text(rule, name))?,
        mac_scope: if only_encrypted { MacScope::OnlyEncrypted } else { MacScope::All },
    })
}

fn matches(rule: &Json, path: &Path) -> Result<bool> {
    match text(rule, "path_regex") {
        None => Ok(true),
        Some(regex) => Ok(go_regex::compile("path_regex", &regex)?.is_match(&path.to_string_lossy())),
    }
}

fn unreadable(path: &Path) -> Error {
    refused(format!("cannot read `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r"
keys:
  - &ops age1ops
stores:
  yaml: {indent: 2}
creation_rules:
  - path_regex: ^prod/.*\.yaml$
    age: 'age1a, age1b,'
    encrypted_regex: ^(data)$
    mac_only_encrypted: true
  - path_regex: groups
    age: age1ignored
    shamir_threshold: 2
    key_groups:
      - age: [*ops, age1c]
      - merge:
          - pgp: [ABCD]
        kms: [{arn: 'arn:aws:1'}]
  - age: [age1z]
    future: {a: 1}
";

    fn rules() -> CreationRules {
        CreationRules::parse("/p/.sops.yaml".into(), RULES).unwrap()
    }

    fn rule(file: &str) -> CreationRule {
        rule_for(Some(&rules()), Path::new(file), &Environment::default()).unwrap()
    }

    #[test]
    fn the_first_rule_that_matches_the_relative_path_wins() {
        let prod = rule("/p/prod/a.yaml");

        assert_eq!(prod.groups[0].recipients, ["age1a", "age1b"]);
        assert_eq!(prod.selection.setting(), Some(("encrypted_regex", "^(data)$")));
        assert_eq!(prod.mac_scope, MacScope::OnlyEncrypted);
        assert_eq!(rule("/p/other/prod/a.yaml").groups[0].recipients, ["age1z"]);
        assert_eq!(rules().layout(Format::Yaml).unwrap().yaml_indent, 2);
    }

    #[test]
    fn key_groups_replace_the_age_list() {
        let rule = rule("/p/groups/a.yaml");

        assert_eq!(rule.groups[0].recipients, ["age1ops", "age1c"]);
        assert_eq!(rule.groups[1].foreign, ["pgp ABCD", "kms arn:aws:1"]);
        assert_eq!(rule.threshold, 2);
    }

    #[test]
    fn recipients_of_the_environment_come_first_but_the_rest_of_the_rule_holds() {
        let env = Environment::default().with(RECIPIENTS, "age1x,age1y");

        let rule = rule_for(Some(&rules()), Path::new("/p/prod/a.yaml"), &env).unwrap();
        let alone = rule_for(None, Path::new("/p/a.yaml"), &env).unwrap();

        assert_eq!(rule.groups[0].recipients, ["age1x", "age1y"]);
        assert_eq!(rule.selection.setting().unwrap().0, "encrypted_regex");
        assert_eq!(alone.selection.setting(), Some(("unencrypted_suffix", "_unencrypted")));
    }

    #[test]
    fn what_cannot_decide_is_refused_with_its_place() {
        let refusal = |text: &str| {
            let rules = CreationRules::parse("/p/.sops.yaml".into(), text)?;
            rule_for(Some(&rules), Path::new("/p/a.yaml"), &Environment::default()).map(|_| ())
        };
        let no_match = "creation_rules: [{path_regex: b, age: age1}]";
        let two_rules = "creation_rules: [{age: age1, encrypted_regex: a, encrypted_suffix: b}]";

        for odd in
            [no_match, two_rules, "creation_rules: [{path_regex: '('}]", "creation_rules: [{}]", "a: [", ""]
        {
            let error = refusal(odd).unwrap_err();
            assert_eq!(error.exit().0, 77, "{odd}");
            assert!(error.to_string().contains("/p/"), "{error}");
        }
    }

    #[test]
    fn the_file_is_found_upwards() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join(FILE_NAME), RULES).unwrap();

        let found = CreationRules::find(&dir.path().join("a/b")).unwrap().unwrap();

        assert_eq!(found.path(), dir.path().join(FILE_NAME));
    }
}
