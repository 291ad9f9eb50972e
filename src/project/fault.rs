//! Turns what the YAML reader says into an error that names file, line, column, key,
//! what was expected and what was found. Begin at [`YamlSource::explain`].

use serde_saphyr::{Error as YamlError, Location};

use crate::error::Error;
use crate::model::nearest;

/// A YAML file as read, for telling where in it something is wrong.
#[derive(Debug)]
pub struct YamlSource<'a> {
    /// The name shown in messages, relative to the root.
    pub file: &'a str,
    /// The whole text.
    pub text: &'a str,
}

impl YamlSource<'_> {
    /// Returns the error for a file that does not parse or has the wrong shape.
    pub fn explain(&self, error: &YamlError) -> Error {
        let error = error.without_snippet();
        let Some(location) = error.location() else {
            return Error::invalid(format!("`{}` is not valid: {error}", self.file));
        };
        self.describe(error, location)
    }

    /// Returns an error about the value at a place, which was read but makes no sense.
    pub fn wrong(&self, location: Location, message: String) -> Error {
        Error::invalid(message).at(self.place(location))
    }

    fn place(&self, location: Location) -> String {
        format!("{}:{}:{}", self.file, location.line(), location.column())
    }

    fn describe(&self, error: &YamlError, location: Location) -> Error {
        let key = self.key_at(location);
        match error {
            YamlError::SerdeUnknownField { field, expected, .. } => {
                let what = format!("unknown key `{field}` in `{}`", self.file);
                self.with_choice(self.wrong(location, what), field, expected)
            }
            YamlError::SerdeUnknownVariant { variant, expected, .. } => {
                let what = format!("{} cannot be `{variant}`", named(key));
                self.with_choice(self.wrong(location, what), variant, expected)
            }
            YamlError::DuplicateMappingKey { key: duplicate, .. } => {
                let key = duplicate.as_ref().or(key.as_ref()).map_or("?", String::as_str);
                self.wrong(location, format!("key `{key}` is given twice in `{}`", self.file))
            }
            _ => self.mismatch(error, location, key),
        }
    }

    /// Returns the error for a value that is not what its key wants.
    fn mismatch(&self, error: &YamlError, location: Location, key: Option<String>) -> Error {
        let Some(expected) = expectation(error) else {
            let what = format!("`{}` is not valid YAML", self.file);
            return self.wrong(location, what).detail(reason(error));
        };
        let wrong = self.wrong(location, format!("{} must be {expected}", named(key)));
        match self.line(location) {
            Some(line) => wrong.fact("found", line.trim()),
            None => wrong,
        }
    }

    fn with_choice(&self, error: Error, found: &str, expected: &[&'static str]) -> Error {
        let names = expected.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let guess = nearest(found, expected.iter().copied());
        error
            .detail(format!("expected one of {names}"))
            .hint_if(guess.map(|guess| format!("did you mean `{guess}`?")))
    }

    fn line(&self, location: Location) -> Option<&str> {
        self.text.lines().nth(usize::try_from(location.line()).ok()?.checked_sub(1)?)
    }

    /// Returns the key whose value, or whose name, stands at the place.
    fn key_at(&self, location: Location) -> Option<String> {
        let line = self.line(location)?;
        let column = usize::try_from(location.column()).ok()?.checked_sub(1)?;
        let split = line.char_indices().nth(column).map_or(line.len(), |(index, _)| index);
        let (before, after) = line.split_at(split);
        let on_line = key_of(after).or_else(|| before.rsplit(['{', '[', ',']).find_map(key_of));
        on_line.or_else(|| self.key_above(location)).map(str::to_owned)
    }

    /// Returns the key of the nearest line above that is indented less: the owner of a list item.
    fn key_above(&self, location: Location) -> Option<&str> {
        let index = usize::try_from(location.line()).ok()?.checked_sub(1)?;
        let lines = self.text.lines().take(index).collect::<Vec<_>>();
        let depth = indentation(self.line(location)?);
        lines.into_iter().rev().filter(|line| indentation(line) <= depth).find_map(key_of)
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the key at the start of a piece of YAML: `- name: x` is `name`.
fn key_of(piece: &str) -> Option<&str> {
    let piece = piece.trim().trim_start_matches("- ").trim_start();
    let end = piece.find(": ").or_else(|| piece.strip_suffix(':').map(str::len))?;
    let key = piece[..end].trim_matches(['"', '\'', ' ']);
    (!key.is_empty() && !key.starts_with(['{', '[', '#'])).then_some(key)
}

fn named(key: Option<String>) -> String {
    key.map_or_else(|| "a value".to_owned(), |key| format!("`{key}`"))
}

/// Returns what the reader wanted, in a user's words; `None` where the YAML itself is broken.
fn expectation(error: &YamlError) -> Option<String> {
    let wanted = match error {
        YamlError::Unexpected { expected, .. } => plain_words(expected),
        YamlError::InvalidScalar { ty, .. } => plain_words(ty),
        YamlError::SerdeInvalidType { expected, .. }
        | YamlError::SerdeInvalidValue { expected, .. }
        | YamlError::SerdeInvalidLength { expected, .. } => plain_words(expected),
        YamlError::NullIntoString { .. } => "a text, not empty".to_owned(),
        YamlError::SerdeMissingField { field, .. } => format!("a map with the key `{field}`"),
        YamlError::AliasError { error, .. } => return expectation(error),
        _ => return None,
    };
    Some(wanted)
}

/// Puts the reader's terms into a user's.
fn plain_words(term: &str) -> String {
    let words = match term {
        "mapping start" | "mapping" => "a map",
        "sequence start" | "sequence" => "a list",
        "string scalar" | "string" => "a text",
        "u64" | "u32" | "u16" | "usize" | "integer" => "a whole number",
        "a nonzero u16" => "a whole number of at least 1",
        "bool" | "boolean" => "`true` or `false`",
        "a tuple of size 2" => "a list of two texts: start and end",
        other => other,
    };
    words.to_owned()
}

/// Returns the reader's sentence without the place, which is said already, and without advice to programmers.
fn reason(error: &YamlError) -> String {
    if let YamlError::MultipleDocuments { .. } = error {
        return "expected one document, found a second one after `---`".to_owned();
    }
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
