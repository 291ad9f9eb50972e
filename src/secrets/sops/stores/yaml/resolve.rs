//! Turns a scalar of a YAML text into a typed value, as Go's yaml.v3 does.
//!
//! It is neither YAML 1.1 nor 1.2: `017` is fifteen, `1_000` a thousand, `08` a float,
//! `2024-01-31` a time, `yes` a text. Begin at [`resolve`].

use std::sync::LazyLock;

use regex::Regex;
use zeroize::Zeroizing;

use super::timestamp;
use crate::secrets::sops::tree::Value;

/// Why a scalar has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// A whole number that only an unsigned type holds; sops cannot encrypt it.
    TooLarge,
    /// The text does not fit the tag.
    Tag,
}

/// Returns the value of a plain scalar.
pub(super) fn resolve(text: &str) -> Result<Value, Unfit> {
    if let Some(value) = by_word(text) {
        return Ok(value);
    }
    match text.as_bytes().first() {
        Some(b'.') => Ok(float(text).map_or_else(|| Value::text(text), Value::Float)),
        Some(b'0'..=b'9' | b'+' | b'-') => number_or_time(text),
        _ => Ok(Value::text(text)),
    }
}

/// Says whether a text would come back as a text if it were written plainly.
pub(super) fn is_text(text: &str) -> bool {
    matches!(resolve(text), Ok(Value::Text(_)))
}

/// Returns the value of a scalar with a tag such as `!!int`.
pub(super) fn resolve_tagged(tag: &str, text: &str) -> Result<Value, Unfit> {
    let plain = || resolve(text);
    match tag {
        "!!binary" => binary(text).ok_or(Unfit::Tag),
        "!!int" => plain().and_then(|value| keep(value, |value| matches!(value, Value::Int(_)))),
        "!!bool" => plain().and_then(|value| keep(value, |value| matches!(value, Value::Bool(_)))),
        "!!null" => plain().and_then(|value| keep(value, |value| matches!(value, Value::Null))),
        "!!timestamp" => plain().and_then(|value| keep(value, |value| matches!(value, Value::Time(_)))),
        "!!float" => match plain()? {
            #[expect(clippy::cast_precision_loss, reason = "the tag asks for it")]
            Value::Int(number) => Ok(Value::Float(number as f64)),
            value => keep(value, |value| matches!(value, Value::Float(_))),
        },
        _ => Ok(Value::text(text)),
    }
}

fn keep(value: Value, fits: impl Fn(&Value) -> bool) -> Result<Value, Unfit> {
    if fits(&value) { Ok(value) } else { Err(Unfit::Tag) }
}

fn binary(text: &str) -> Option<Value> {
    use base64::Engine as _;
    let signs: String = text.chars().filter(|sign| !matches!(sign, '\n' | '\r')).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(signs).ok()?;
    Some(Value::Text(Zeroizing::new(bytes)))
}

fn by_word(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Value::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Value::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number_or_time(text: &str) -> Result<Value, Unfit> {
    if let Some(time) = timestamp::parse(text) {
        return Ok(Value::Time(time));
    }
    let digits = text.replace('_', "");
    if let Some(number) = whole(&digits) {
        if let Ok(number) = i64::try_from(number) {
            return Ok(Value::Int(number));
        }
        if u64::try_from(number).is_ok() && !digits.starts_with('+') {
            return Err(Unfit::TooLarge);
        }
    }
    Ok(float(&digits).map_or_else(|| Value::text(text), Value::Float))
}

/// Reads a whole number whose prefix says its base; a leading zero alone means eight.
fn whole(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let (base, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some(start) if start.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let number = i128::from_str_radix(digits, base).ok()?;
    Some(if negative { -number } else { number })
}

fn float(text: &str) -> Option<f64> {
    static FLOAT: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$").ok());
    let fits = FLOAT.as_ref().is_some_and(|float| float.is_match(text));
    fits.then(|| text.parse::<f64>().ok())?.filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_resolve_as_in_yaml_v3() {
        let whole = [("017", 15), ("1_000", 1000), ("0x1F", 31), ("0o17", 15), ("-0b101", -5), ("+7", 7)];
        for (text, number) in whole {
            assert_eq!(resolve(text), Ok(Value::Int(number)), "{text}");
        }
        for (text, number) in [("08", 8.0), ("1e3", 1000.0), (".5", 0.5), ("1.", 1.0), ("-1_0.5", -10.5)] {
            assert_eq!(resolve(text), Ok(Value::Float(number)), "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_number_but_is_none_is_a_text() {
        for text in ["yes", "1e400", "0x", "1.2.3", "-", "+", "._", "12:30:45", "2024-13-01", "<<", "0b12"] {
            assert_eq!(resolve(text), Ok(Value::text(text)), "{text}");
        }
    }

    #[test]
    fn a_whole_number_above_the_signed_range_is_too_large() {
        assert_eq!(resolve("9223372036854775807"), Ok(Value::Int(i64::MAX)));
        assert_eq!(resolve("9223372036854775808"), Err(Unfit::TooLarge));
        assert_eq!(resolve("18446744073709551616"), Ok(Value::Float(18_446_744_073_709_551_616.0)));
    }

    #[test]
    fn a_tag_asks_for_its_type() {
        assert_eq!(resolve_tagged("!!str", "1"), Ok(Value::text("1")));
        assert_eq!(resolve_tagged("!!float", "1"), Ok(Value::Float(1.0)));
        assert_eq!(resolve_tagged("!!binary", "aGk="), Ok(Value::text("hi")));
        assert_eq!(resolve_tagged("!!int", "x"), Err(Unfit::Tag));
    }
}
