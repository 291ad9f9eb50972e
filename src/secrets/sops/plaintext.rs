//! A leaf as SOPS encrypts it: a label and bytes, and back to a value.
//!
//! The same bytes go into the MAC, so they must be exactly those of the real sops.

use zeroize::Zeroizing;

use super::refusal::refused;
use super::tree::Value;
use crate::error::Result;

/// What `type:` says about the bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Label {
    /// `str`
    Str,
    /// `bytes`, written by very old versions only.
    Bytes,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `time`
    Time,
    /// `comment`
    Comment,
}

/// Every label with its word.
const LABELS: [(Label, &str); 7] = [
    (Label::Str, "str"),
    (Label::Bytes, "bytes"),
    (Label::Int, "int"),
    (Label::Float, "float"),
    (Label::Bool, "bool"),
    (Label::Time, "time"),
    (Label::Comment, "comment"),
];

impl Label {
    /// Returns the word in the file.
    pub fn word(self) -> &'static str {
        LABELS.iter().find(|(label, _)| *label == self).map_or("str", |(_, word)| word)
    }

    /// Reads the word of a file.
    pub fn parse(word: &str) -> Option<Self> {
        LABELS.iter().find(|(_, known)| *known == word).map(|(label, _)| *label)
    }

    /// Returns the label that stands for all labels with which the same bytes mean the same.
    ///
    /// Versions of sops disagree whether a JSON number is an int or a float; a value that
    /// nobody changed must not change its label either.
    pub fn family(self) -> Self {
        match self {
            Self::Str | Self::Bytes => Self::Str,
            Self::Int | Self::Float => Self::Float,
            Self::Bool => Self::Bool,
            Self::Time => Self::Time,
            Self::Comment => Self::Comment,
        }
    }
}

/// A labelled plaintext.
pub(super) struct Plaintext {
    /// What the bytes are.
    pub label: Label,
    /// The bytes that are encrypted and hashed.
    pub bytes: Zeroizing<Vec<u8>>,
}

impl Plaintext {
    /// Returns the plaintext of a leaf; null and what has parts has none.
    pub fn of(value: &Value) -> Option<Self> {
        let plain = |label, text: String| Some(Self { label, bytes: Zeroizing::new(text.into_bytes()) });
        match value {
            Value::Null | Value::Map(_) | Value::List(_) => None,
            Value::Bool(yes) => plain(Label::Bool, if *yes { "True" } else { "False" }.to_owned()),
            Value::Int(number) => plain(Label::Int, number.to_string()),
            Value::Float(number) => plain(Label::Float, float(*number)),
            Value::Time(time) => plain(Label::Time, time.clone()),
            Value::Text(bytes) => Some(Self { label: Label::Str, bytes: bytes.clone() }),
        }
    }

    /// Returns the plaintext of a comment.
    pub fn of_comment(text: &str) -> Self {
        Self { label: Label::Comment, bytes: Zeroizing::new(text.as_bytes().to_vec()) }
    }

    /// Turns it into the value it stands for; a comment becomes a text.
    pub fn into_value(self) -> Result<Value> {
        let label = self.label;
        let damaged = || refused(format!("the bytes are no `{}`", label.word()));
        let text = || std::str::from_utf8(&self.bytes).map_err(|_| damaged());
        Ok(match label {
            Label::Int => Value::Int(text()?.parse().map_err(|_| damaged())?),
            Label::Float => Value::Float(text()?.parse().map_err(|_| damaged())?),
            Label::Bool => Value::Bool(boolean(text()?).ok_or_else(damaged)?),
            Label::Time => Value::Time(text()?.to_owned()),
            Label::Comment => {
                text()?;
                Value::Text(self.bytes)
            }
            Label::Str | Label::Bytes => Value::Text(self.bytes),
        })
    }
}

impl std::fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plaintext({}, hidden)", self.label.word())
    }
}

/// Writes a float as Go does with `FormatFloat(f, 'f', -1, 64)`.
fn float(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        number => number.to_string(),
    }
}

/// Reads a bool in any spelling that Go's `ParseBool` takes.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "True" | "true" | "TRUE" | "t" | "T" | "1" => Some(true),
        "False" | "false" | "FALSE" | "f" | "F" | "0" => Some(false),
        _ => None,
    }
}

/// Returns a scalar as text, whichever type the format gave it.
pub(super) fn text_of(value: &Value) -> Option<String> {
    let plain = match value {
        Value::Bool(yes) => return Some(yes.to_string()),
        other => Plaintext::of(other)?,
    };
    String::from_utf8(plain.bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(value: &Value) -> String {
        String::from_utf8(Plaintext::of(value).unwrap().bytes.to_vec()).unwrap()
    }

    #[test]
    fn leaves_have_the_bytes_that_sops_hashes() {
        assert_eq!(bytes_of(&Value::Bool(true)), "True");
        assert_eq!(bytes_of(&Value::Int(-7)), "-7");
        assert_eq!(bytes_of(&Value::Float(1.0)), "1");
        assert_eq!(bytes_of(&Value::Float(1e21)), "1000000000000000000000");
        assert_eq!(bytes_of(&Value::Float(1e-7)), "0.0000001");
        assert_eq!(bytes_of(&Value::Float(f64::INFINITY)), "+Inf");
        assert_eq!(bytes_of(&Value::Float(f64::NAN)), "NaN");
        assert!(Plaintext::of(&Value::Null).is_none());
    }

    #[test]
    fn every_leaf_comes_back_as_it_was() {
        let leaves = [
            Value::Bool(false),
            Value::Int(i64::MIN),
            Value::Float(-2.5),
            Value::Float(f64::NEG_INFINITY),
            Value::Time("2024-01-31T00:00:00Z".to_owned()),
            Value::Text(Zeroizing::new(vec![0xff, 0x00])),
        ];

        for leaf in leaves {
            assert_eq!(Plaintext::of(&leaf).unwrap().into_value().unwrap(), leaf);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_without_being_shown() {
        let plain = Plaintext { label: Label::Int, bytes: Zeroizing::new(b"hunter2".to_vec()) };

        let error = plain.into_value().unwrap_err();

        assert_eq!(error.to_string(), "the bytes are no `int`");
    }
}
