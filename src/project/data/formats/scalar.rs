//! What a plain word of YAML is: the core schema of YAML 1.2, where a MAC address is a text.
//!
//! Numbers that a template could not print as they stand (too large, infinite) stay texts.
//! Begin at [`read`].

use serde_json::{Number, Value};

/// Returns the value of a plain scalar in YAML 1.2.
pub fn read(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => integer(text).or_else(|| float(text)).unwrap_or_else(|| Value::String(text.to_owned())),
    }
}

/// Returns the whole number that a text is, in decimal, `0o17` or `0x1F`.
pub fn integer(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_prefix("0x") {
        return unsigned(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return unsigned(digits, 8);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let plain = text.strip_prefix('+').unwrap_or(text);
    plain.parse::<i64>().map(Value::from).or_else(|_| plain.parse::<u64>().map(Value::from)).ok()
}

/// Returns the number of digits alone; a sign in them is none.
fn unsigned(digits: &str, radix: u32) -> Option<Value> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(Value::from)
}

/// Returns the number with a point or an exponent that a text is, where it is finite.
pub fn float(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        is_digits(exponent)
    });
    // A whole number that fits no integer is no float either: it would lose its last digits.
    let whole = exponent.is_none() && !mantissa.contains('.');
    if whole || !exponent_fits || !is_mantissa(mantissa) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number)
}

/// Returns whether a text is digits with at most one point, and digits on either side of it.
fn is_mantissa(text: &str) -> bool {
    match text.split_once('.') {
        Some((before, after)) => {
            let digits = |part: &str| part.is_empty() || is_digits(part);
            digits(before) && digits(after) && !(before.is_empty() && after.is_empty())
        }
        None => is_digits(text),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_and_numbers_are_read_as_yaml_1_2_says() {
        for (text, value) in [
            ("~", json!(null)),
            ("TRUE", json!(true)),
            ("010", json!(10)),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1.5e3", json!(1500.0)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("1e3", json!(1000.0)),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn everything_else_is_a_text() {
        for text in [
            "yes",
            "on",
            "52:54:00:12:34:56",
            "1_000",
            "0b11",
            "-0x1F",
            "0x-1",
            "0o8",
            ".",
            "1.2.3",
            "e3",
            "-",
            "+",
            "1e",
            "tRue",
            "18446744073709551616",
            "1e400",
            ".inf",
            "0x",
        ] {
            assert_eq!(read(text), json!(text));
        }
    }
}
