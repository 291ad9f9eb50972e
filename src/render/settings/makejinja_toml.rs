//! `makejinja.toml` as makejinja 2.8 reads it: every key of its own, under its own names.
//!
//! What makejinja does by starting other programs is refused by name; what only matters to
//! makejinja itself (`force`, `clean`, `quiet`, caches) is read and left alone.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::marks::Marks;
use super::{UndefinedMode, Whitespace};
use crate::error::{Error, Result, io};
use crate::model::{Values, nearest};

const FILE: &str = "makejinja.toml";

/// The extensions whose statements are there without them.
const EXTENSIONS: &[&str] =
    &["jinja2.ext.do", "jinja2.ext.loopcontrols", "jinja2.ext.with_", "jinja2.ext.autoescape"];

/// The keys that are read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct MakejinjaToml {
    pub inputs: Vec<String>,
    pub output: Option<String>,
    pub include_patterns: Vec<String>,
    pub exclude_patterns: Vec<String>,
    pub jinja_suffix: Option<String>,
    pub keep_jinja_suffix: bool,
    pub keep_empty: bool,
    pub data: Vec<String>,
    data_vars: BTreeMap<String, Value>,
    file_data: BTreeMap<String, Value>,
    pub loaders: Vec<String>,
    pub plugins: Vec<String>,
    pub import_paths: Vec<String>,
    extensions: Vec<String>,
    undefined: Option<String>,
    exec_pre: Vec<String>,
    exec_post: Vec<String>,
    pub delimiter: DelimiterTable,
    prefix: PrefixTable,
    whitespace: WhitespaceTable,
    internal: InternalTable,
}

/// `[makejinja.delimiter]`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub struct DelimiterTable {
    block_start: String,
    block_end: String,
    variable_start: String,
    variable_end: String,
    comment_start: String,
    comment_end: String,
}

impl Default for DelimiterTable {
    fn default() -> Self {
        let [block_start, block_end, variable_start, variable_end, comment_start, comment_end] =
            ["{%", "%}", "{{", "}}", "{#", "#}"].map(str::to_owned);
        Self { block_start, block_end, variable_start, variable_end, comment_start, comment_end }
    }
}

impl DelimiterTable {
    /// Returns what marks the tags.
    pub fn marks(&self) -> Marks {
        Marks {
            block: (self.block_start.clone(), self.block_end.clone()),
            variable: (self.variable_start.clone(), self.variable_end.clone()),
            comment: (self.comment_start.clone(), self.comment_end.clone()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PrefixTable {
    line_statement: Option<String>,
    line_comment: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WhitespaceTable {
    trim_blocks: Option<bool>,
    lstrip_blocks: Option<bool>,
    keep_trailing_newline: Option<bool>,
    newline_sequence: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InternalTable {
    autoescape: bool,
    enable_async: bool,
}

/// Loads `makejinja.toml` from the root, where there is one.
pub fn load(root: &Path) -> Result<Option<MakejinjaToml>> {
    let path = root.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        // A folder of this name is something else.
        Err(_) if path.is_dir() => return Ok(None),
        Err(error) => return Err(io("read", &path)(error)),
    };
    parse(&text).map(Some)
}

/// Reads the settings, which may stand below a table `makejinja` or at the top.
pub fn parse(text: &str) -> Result<MakejinjaToml> {
    let table: toml::Table = toml::from_str(text).map_err(|error| broken(text, &error))?;
    let table = match table.get("makejinja") {
        Some(toml::Value::Table(inner)) => inner.clone(),
        _ => table,
    };
    check_names(&table)?;
    table.try_into().map_err(|error: toml::de::Error| {
        Error::invalid(format!("`{FILE}` is invalid: {}", error.message())).at(FILE)
    })
}

fn broken(text: &str, error: &toml::de::Error) -> Error {
    let line =
        error.span().map_or(1, |span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
    Error::invalid(format!("`{FILE}` is no TOML: {}", error.message())).at(format!("{FILE}:{line}"))
}

/// Every key of makejinja 2.8; another one is most likely misspelt.
const NAMES: &[&str] = &[
    "inputs",
    "output",
    "include_patterns",
    "exclude_patterns",
    "jinja_suffix",
    "keep_jinja_suffix",
    "keep_empty",
    "copy_metadata",
    "data",
    "data_vars",
    "file_data",
    "loaders",
    "plugins",
    "import_paths",
    "extensions",
    "undefined",
    "exec_pre",
    "exec_post",
    "clean",
    "force",
    "quiet",
    "delimiter",
    "prefix",
    "whitespace",
    "internal",
];

/// The keys of the tables that are read whole.
const TABLES: &[(&str, &[&str])] = &[
    (
        "delimiter",
        &["block_start", "block_end", "variable_start", "variable_end", "comment_start", "comment_end"],
    ),
    ("prefix", &["line_statement", "line_comment"]),
    ("whitespace", &["trim_blocks", "lstrip_blocks", "keep_trailing_newline", "newline_sequence"]),
];

/// Tells every unknown key at once, each with the nearest known one.
fn check_names(table: &toml::Table) -> Result<()> {
    let mut unknown = unknown_names("", table, NAMES);
    for (name, known) in TABLES {
        if let Some(toml::Value::Table(inner)) = table.get(*name) {
            unknown.extend(unknown_names(&format!("{name}."), inner, known));
        }
    }
    match unknown.as_slice() {
        [] => Ok(()),
        [(name, guess)] => {
            let hint = guess.map(|guess| format!("did you mean `{guess}`?"));
            Err(Error::invalid(format!("`{FILE}` has the unknown key `{name}`")).at(FILE).hint_if(hint))
        }
        several => {
            let message = format!("`{FILE}` has {} unknown keys", several.len());
            Err(several.iter().fold(Error::invalid(message).at(FILE), |error, (name, guess)| {
                let guess = guess.map(|guess| format!("; did you mean `{guess}`?")).unwrap_or_default();
                error.detail(format!("`{name}`{guess}"))
            }))
        }
    }
}

/// Returns the keys that are not among the known ones, and for each the nearest of them.
fn unknown_names(
    prefix: &str,
    table: &toml::Table,
    known: &'static [&'static str],
) -> Vec<(String, Option<&'static str>)> {
    let unknown = table.keys().filter(|key| !known.contains(&key.as_str()));
    unknown.map(|key| (format!("{prefix}{key}"), nearest(key, known.iter().copied()))).collect()
}

impl MakejinjaToml {
    /// Refuses what cannot be done without Python or by starting programs.
    pub fn check(&self) -> Result<()> {
        let refuse =
            |key: &str, why: &str| Err(Error::invalid(format!("`{key}` in `{FILE}` {why}")).at(FILE));
        if !self.exec_pre.is_empty() || !self.exec_post.is_empty() {
            return refuse("exec_pre` or `exec_post", "would start programs, which rendering does not");
        }
        if !self.file_data.is_empty() {
            return refuse("file_data", "is not supported: put the values into `data`");
        }
        if self.prefix.line_statement.is_some() || self.prefix.line_comment.is_some() {
            return refuse("prefix", "is not supported: write tags instead of line statements");
        }
        if self.internal.autoescape || self.internal.enable_async {
            return refuse("internal", "asks for autoescape or async, which are not supported");
        }
        if self.whitespace.newline_sequence.as_deref().is_some_and(|sequence| sequence != "\n") {
            return refuse("whitespace.newline_sequence", "must be `\\n`");
        }
        match self.extensions.iter().find(|name| !EXTENSIONS.contains(&name.as_str())) {
            Some(name) => refuse("extensions", &format!("names `{name}`, which is not supported")),
            None => Ok(()),
        }
    }

    /// Returns the values of `data_vars`, whose dots part the names of nested maps.
    pub fn data_vars(&self) -> Values {
        let mut values = Values::new();
        for (name, value) in &self.data_vars {
            set_nested(&mut values, name, value);
        }
        values
    }

    /// Returns what an undefined value does.
    pub fn undefined(&self) -> Result<UndefinedMode> {
        match self.undefined.as_deref() {
            None | Some("default") => Ok(UndefinedMode::Lenient),
            Some("strict") => Ok(UndefinedMode::Strict),
            Some("chainable") => Ok(UndefinedMode::Chainable),
            Some(other) => Err(Error::invalid(format!(
                "`undefined` in `{FILE}` must be `default`, `strict` or `chainable`, found `{other}`"
            ))
            .at(FILE)),
        }
    }

    /// Returns how white space around tags is treated.
    pub fn whitespace(&self) -> Whitespace {
        let table = &self.whitespace;
        Whitespace {
            trim_blocks: table.trim_blocks.unwrap_or(true),
            lstrip_blocks: table.lstrip_blocks.unwrap_or(true),
            keep_trailing_newline: table.keep_trailing_newline.unwrap_or(true),
        }
    }
}

fn set_nested(values: &mut Values, name: &str, value: &Value) {
    let Some((first, rest)) = name.split_once('.') else {
        values.insert(name.to_owned(), value.clone());
        return;
    };
    let below = values.entry(first.to_owned()).or_insert(Value::Null);
    if !below.is_object() {
        *below = Value::Object(Values::new());
    }
    if let Value::Object(below) = below {
        set_nested(below, rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_only_matter_to_makejinja_are_no_errors() {
        let toml = parse("force = true\ncopy_metadata = true\nloaders = [\"plugin:Plugin\"]\n[delimiter]\nblock_start = \"#%\"\n").unwrap();

        assert!(toml.check().is_ok());
        assert_eq!(toml.delimiter.marks().block, ("#%".to_owned(), "%}".to_owned()));
    }

    #[test]
    fn a_misspelt_key_is_told_with_the_nearest() {
        let error = parse("input = [\"a\"]\n").unwrap_err();

        assert!(error.to_string().contains("did you mean `inputs`?"), "{error}");
    }

    #[test]
    fn all_unknown_keys_are_told_at_once() {
        let error = parse("input = []\nzzz = 1\n[delimiter]\nblock_strat = \"x\"\n").unwrap_err();

        assert_eq!(error.message(), "`makejinja.toml` has 3 unknown keys");
        let text = error.to_string();
        for part in [
            "`input`; did you mean `inputs`?",
            "`zzz`",
            "`delimiter.block_strat`; did you mean `block_start`?",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn what_would_start_programs_is_refused() {
        let error = parse("exec_post = [\"rm -rf /\"]\n").unwrap().check().unwrap_err();

        assert!(error.message().contains("exec_post"), "{error}");
    }

    #[test]
    fn dotted_variables_make_nested_maps() {
        let toml = parse("[data_vars]\n\"a.b\" = 1\nc = \"x\"\n").unwrap();

        assert_eq!(serde_json::json!(toml.data_vars()), serde_json::json!({"a": {"b": 1}, "c": "x"}));
    }
}
