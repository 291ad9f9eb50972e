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
            Setting::Expression(_) => _ = flat.insert(name, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_values_get_dotted_names_and_expressions_no_value() {
        let endpoints = Settings::from([("s3".into(), Setting::Literal("https://r2".into()))]);
        let settings = Settings::from([
            ("endpoints".into(), Setting::Map(endpoints)),
            ("key".into(), Setting::Expression("var.key".into())),
        ]);

        let flat = flatten(&settings);

        assert_eq!(flat["endpoints.s3"].as_deref(), Some("https://r2"));
        assert_eq!(flat["key"], None);
        assert_eq!(one_line(&settings), "endpoints={s3=\"https://r2\"} key=var.key");
    }
}
