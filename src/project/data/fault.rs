//! A mistake in the data, and the one error that tells all of them.
//!
//! Values of keys that sound secret are never shown. Begin at [`all`].

use serde_json::Value;

use super::node::{Content, DataPlace, Node};
use crate::error::Error;

/// How many mistakes are shown one by one.
const SHOWN: usize = 200;
/// How much of a wrong value is shown.
const FOUND_LENGTH: usize = 80;
/// Parts of names whose values are never shown.
const SECRET_WORDS: [&str; 8] =
    ["secret", "password", "passphrase", "token", "private", "credential", "api_key", "access_key"];

/// One mistake.
#[derive(Debug)]
pub struct Fault {
    /// Where it is.
    pub place: DataPlace,
    /// The sentence that names the key and what was expected.
    pub message: String,
    /// What stands there instead.
    pub found: Option<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Fault {
    /// Makes a fault without a found value or a hint.
    pub fn new(place: &DataPlace, message: String) -> Self {
        Self { place: place.clone(), message, found: None, hint: None }
    }

    /// Adds what stands there.
    pub fn found(mut self, found: String) -> Self {
        self.found = Some(found);
        self
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    fn line(&self) -> String {
        let found = self.found.as_ref().map(|found| format!(", found {found}")).unwrap_or_default();
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{}  {}{found}{hint}", self.place, self.message)
    }
}

/// Returns one error for all faults, or none.
pub fn all(mut faults: Vec<Fault>) -> Option<Error> {
    // In the order of the files as far as the order of first mention says it.
    faults.sort_by(|one, other| {
        let key = |fault: &Fault| (fault.place.file.clone(), fault.place.line, fault.place.column);
        key(one).cmp(&key(other))
    });
    if faults.len() <= 1 {
        return faults.pop().map(alone);
    }
    let message = format!("{} mistakes in the data", faults.len());
    let error =
        faults.iter().take(SHOWN).fold(Error::invalid(message), |error, fault| error.detail(fault.line()));
    Some(match faults.len().checked_sub(SHOWN) {
        Some(rest) if rest > 0 => error.detail(format!("and {rest} more")),
        _ => error,
    })
}

fn alone(fault: Fault) -> Error {
    let error = Error::invalid(fault.message).at(fault.place).hint_if(fault.hint);
    match fault.found {
        Some(found) => error.fact("found", found),
        None => error,
    }
}

/// Returns whether the value of a key should not be shown.
pub fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// Returns what stands at a node in short: of a secret only what sort of value it is.
pub fn found(key: &str, node: &Node) -> String {
    match &node.content {
        Content::Scalar(Value::String(text)) if !is_secret(key) => format!("`{}`", shortened(text)),
        Content::Scalar(value @ (Value::Number(_) | Value::Bool(_))) if !is_secret(key) => {
            format!("`{value}`")
        }
        content => sort_of(content).to_owned(),
    }
}

/// Returns what sort of value it is.
pub const fn sort_of(content: &Content) -> &'static str {
    match content {
        Content::List(_) => "a list",
        Content::Map(_) => "a map",
        Content::Scalar(Value::Null) => "nothing",
        Content::Scalar(Value::Bool(_)) => "`true` or `false`",
        Content::Scalar(Value::Number(_)) => "a number",
        Content::Scalar(Value::String(text)) if text.is_empty() => "an empty text",
        Content::Scalar(_) => "a text",
    }
}

/// Returns a text on one line, cut where it is long.
pub fn shortened(text: &str) -> String {
    let escaped: String = text.chars().take(FOUND_LENGTH + 1).flat_map(escape_control).collect();
    match escaped.char_indices().nth(FOUND_LENGTH) {
        Some((end, _)) => format!("{}…", &escaped[..end]),
        None => escaped,
    }
}

/// Returns a character, escaped where it would move the cursor of a terminal.
fn escape_control(sign: char) -> Vec<char> {
    if sign.is_control() { sign.escape_default().collect() } else { vec![sign] }
}
