//! A value in a configuration as far as it can be known without running it: literal
//! texts, maps of them, and anything else as the text of its expression.

use std::collections::BTreeMap;
use std::fmt;

/// A value that was read, not evaluated.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Setting {
    /// A literal text, number or boolean.
    Literal(String),
    /// An object or a nested block.
    Map(Settings),
    /// Anything that only OpenTofu can evaluate, as it was written.
    Expression(String),
}

/// Values by name.
pub type Settings = BTreeMap<String, Setting>;

impl Setting {
    /// Returns the text of a literal.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Map(_) | Self::Expression(_) => None,
        }
    }
}

impl Setting {
    /// Returns the value with what `path.module`, `path.root` and `path.cwd` stand for.
    ///
    /// tofu runs in the stack's folder, so the last two are `.`, and so is the first for the stack's own
    /// files; for those of a local module it is the way there. Other expressions stay as they are.
    pub fn with_paths(&self, module: &str) -> Self {
        match self {
            Self::Literal(_) => self.clone(),
            Self::Map(settings) => Self::Map(with_paths(settings, module)),
            Self::Expression(text) => filled_in(text, module).map_or_else(|| self.clone(), Self::Literal),
        }
    }
}

/// Returns values by name with what paths stand for.
pub fn with_paths(settings: &Settings, module: &str) -> Settings {
    settings.iter().map(|(name, value)| (name.clone(), value.with_paths(module))).collect()
}

/// Returns the text of a template in which nothing but paths is to be filled in.
fn filled_in(template: &str, module: &str) -> Option<String> {
    let mut rest = template.strip_prefix('"')?.strip_suffix('"')?;
    // What is escaped, or decided while it runs, is not for us to read.
    if ["%{", "$$", "\\", "\""].iter().any(|mark| rest.contains(mark)) {
        return None;
    }
    let mut filled = String::new();
    while let Some((literal, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}')?;
        let path = match name.trim_matches(['~', ' ', '\t']) {
            "path.module" => module,
            "path.root" | "path.cwd" => ".",
            _ => return None,
        };
        filled.push_str(literal);
        filled.push_str(path);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// Writes the same text for the same meaning: sorted, without comments or layout.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => write!(f, "{text:?}"),
            Self::Map(settings) => write!(f, "{{{}}}", one_line(settings)),
            Self::Expression(text) => f.write_str(text),
        }
    }
}

/// Writes values by name on one line.
pub fn one_line(settings: &Settings) -> String {
    settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Returns the values with dotted names for nested ones; one that is not a literal is `None`.
pub fn flatten(settings: &Settings) -> BTreeMap<String, Option<String>> {
    let mut flat = BTreeMap::new();
    flatten_into("", settings, &mut flat);
    flat
}

fn flatten_into(prefix: &str, settings: &Settings, flat: &mut BTreeMap<String, Option<String>>) {
    for (name, value) in settings {
        let name = format!("{prefix}{name}");
        match value {
            Setting::Map(inner) => flatten_into(&format!("{name}."), inner, flat),
            Setting::Literal(text) => _ = flat.insert(name, Some(text.clone())),
            Setting::Expression(text) => {
                let texts = texts_of_list(text).unwrap_or_default().into_iter().enumerate();
                flat.extend(texts.map(|(number, text)| (format!("{name}.{number}"), Some(text))));
                flat.insert(name, None);
            }
        }
    }
}

/// Returns the texts of a list of nothing but literal texts.
fn texts_of_list(expression: &str) -> Option<Vec<String>> {
    let mut rest = expression.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (text, after) = rest.strip_prefix('"')?.split_once('"')?;
        if ["${", "%{", "\\"].iter().any(|mark| text.contains(mark)) {
            return None;
        }
        texts.push(text.to_owned());
        let after = after.trim_start();
        rest = if after.is_empty() { after } else { after.strip_prefix(',')?.trim_start() };
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_get_dotted_names_and_expressions_no_value() {
        let endpoints = Settings::from([("s3".into(), Setting::Literal("https://r2".into()))]);
        let settings = Settings::from([
            ("files".into(), Setting::Expression("[\n  \"a\", \"b c\",\n]".into())),
            ("odd".into(), Setting::Expression("[\"${var.a}\"]".into())),
            ("endpoints".into(), Setting::Map(endpoints)),
            ("key".into(), Setting::Expression("var.key".into())),
        ]);

        let flat = flatten(&settings);

        assert_eq!(flat["endpoints.s3"].as_deref(), Some("https://r2"));
        assert_eq!(flat["key"], None);
        assert_eq!((flat["files"].as_deref(), flat["files.1"].as_deref()), (None, Some("b c")));
        assert!(!flat.contains_key("odd.0"));
    }

    #[test]
    fn paths_are_filled_in_and_nothing_else_is() {
        let read = |text: &str| Setting::Expression(text.to_owned()).with_paths("../modules/m");

        assert_eq!(
            read("\"${path.module}/../net/a\"").literal(),
            Some("../modules/m/../net/a"),
            "a module is where its folder is"
        );
        assert_eq!(read("\"${ path.root }/a${path.cwd}\"").literal(), Some("./a."));
        for other in [
            "\"${path.module}/${var.x}\"",
            "\"$${path.module}/x\"",
            "\"${abspath(path.module)}/x\"",
            "\"%{ if true }${path.module}%{ endif }\"",
            "\"${path.module\"",
            "\"${path.module}\\n\"",
            "path.module",
            "\"",
        ] {
            assert_eq!(read(other).literal(), None, "{other}");
        }
    }
}
