//! What makejinja's reader, which follows YAML 1.1, makes of a plain word.
//!
//! Used only to warn: values are read by YAML 1.2 in [`super::scalar`]. Begin at [`differs`].

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::scalar;

/// Returns how a plain value is read here and there, where the two are not the same.
pub fn differs(text: &str) -> Option<String> {
    let here = scalar::read(text);
    let there = read(text);
    (!there.is_same(&here)).then(|| format!("`{text}` is {} here and {} to makejinja", said(&here), there))
}

/// Returns what a plain key is to makejinja, where that is no text; keys are texts here.
pub fn key_differs(text: &str) -> Option<String> {
    match read(text) {
        Reading::Text => None,
        there => Some(format!("the key `{text}` is a text here and {there} to makejinja")),
    }
}

/// What YAML 1.1 makes of a plain word.
#[derive(Debug, PartialEq)]
enum Reading {
    Text,
    Null,
    Bool(bool),
    Integer(i128),
    /// A whole number of more digits than matter.
    HugeInteger,
    Float(f64),
    Time,
    Refused,
}

impl Reading {
    fn is_same(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::String(_)) | (Self::Null, Value::Null) => true,
            (Self::Bool(one), Value::Bool(other)) => one == other,
            (Self::Integer(one), Value::Number(other)) if !other.is_f64() => {
                other.as_i64().map(i128::from).or_else(|| other.as_u64().map(i128::from)) == Some(*one)
            }
            (Self::Float(one), Value::Number(other)) => other.is_f64() && other.as_f64() == Some(*one),
            _ => false,
        }
    }
}

impl std::fmt::Display for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text => f.write_str("a text"),
            Self::Null => f.write_str("nothing"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "the number {value}"),
            Self::HugeInteger => f.write_str("a number"),
            Self::Float(value) => write!(f, "the number {value:?}"),
            Self::Time => f.write_str("a point in time"),
            Self::Refused => f.write_str("an error"),
        }
    }
}

fn said(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => format!("the number {value}"),
        Value::String(_) | Value::Array(_) | Value::Object(_) => "a text".to_owned(),
    }
}

fn read(text: &str) -> Reading {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Reading::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Reading::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Reading::Bool(false),
        "=" => Reading::Refused,
        _ if text.starts_with(|sign: char| sign.is_ascii_digit() || "+-.".contains(sign)) => number(text),
        _ => Reading::Text,
    }
}

const FLOAT: &str = r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$";
const INTEGER: &str = r"^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$";
const TIME: &str = r"^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$";

/// The patterns of numbers and times; the sources are constants, so they compile or never do.
static PATTERNS: LazyLock<Option<[Regex; 3]>> =
    LazyLock::new(|| Some([Regex::new(FLOAT).ok()?, Regex::new(INTEGER).ok()?, Regex::new(TIME).ok()?]));

fn number(text: &str) -> Reading {
    let Some([floats, integers, times]) = &*PATTERNS else { return Reading::Text };
    if floats.is_match(text) {
        return Reading::Float(float(&text.replace('_', "")));
    }
    if integers.is_match(text) {
        return integer(&text.replace('_', "")).map_or(Reading::HugeInteger, Reading::Integer);
    }
    if times.is_match(text) { Reading::Time } else { Reading::Text }
}

fn float(text: &str) -> f64 {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        ".inf" | "+.inf" => return f64::INFINITY,
        "-.inf" => return f64::NEG_INFINITY,
        ".nan" => return f64::NAN,
        _ => {}
    }
    if !lower.contains(':') {
        return lower.parse().unwrap_or(f64::NAN);
    }
    let (sign, digits) = signed(&lower);
    let parts = digits.split(':').map(|part| part.parse::<f64>().unwrap_or(0.0));
    parts.fold(0.0, |sum, part| sum * 60.0 + part) * if sign < 0 { -1.0 } else { 1.0 }
}

/// Returns the whole number in binary, octal, decimal, hexadecimal or base 60.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = signed(text);
    let size = if let Some(binary) = digits.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()?
    } else if let Some(hexadecimal) = digits.strip_prefix("0x") {
        i128::from_str_radix(hexadecimal, 16).ok()?
    } else if digits.starts_with('0') {
        i128::from_str_radix(digits, 8).ok()?
    } else {
        let mut parts = digits.split(':').map(|part| part.parse::<i128>().ok());
        parts.try_fold(0_i128, |sum, part| sum.checked_mul(60)?.checked_add(part?))?
    };
    size.checked_mul(sign)
}

fn signed(text: &str) -> (i128, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_says_both_readings() {
        let mac = differs("52:54:00:12:34:56").expect("a difference");
        let octal = differs("010").expect("a difference");

        assert_eq!(mac, "`52:54:00:12:34:56` is a text here and the number 41135085296 to makejinja");
        assert_eq!(octal, "`010` is the number 10 here and the number 8 to makejinja");
        assert_eq!(differs("yes").expect("a difference"), "`yes` is a text here and true to makejinja");
        assert_eq!(differs("=").expect("a difference"), "`=` is a text here and an error to makejinja");
    }

    #[test]
    fn what_both_read_alike_is_no_difference() {
        for text in
            ["", "true", "12", "-0", "0x1F", "1.5", ".5", "00", "007", "1.5e+3", "52:54:00:ab:34:56", "y"]
        {
            assert_eq!(differs(text), None, "{text}");
        }
    }

    #[test]
    fn keys_that_are_no_text_to_makejinja_are_told() {
        assert_eq!(key_differs("on").expect("true"), "the key `on` is a text here and true to makejinja");
        assert!(key_differs("80").is_some());
        assert_eq!(key_differs("node_cidr"), None);
    }
}
