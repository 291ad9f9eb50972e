//! Numbers as Python writes and reads them: `1e+16`, `int('0x1f', 16)`, rounding half to even.

use minijinja::value::Value;

/// Returns the shortest text that reads back as the same number, as Python's `repr`.
pub fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = number.to_string();
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Reads a whole number of a base between 2 and 36, or 0 for what the prefix says.
pub fn parse_int(text: &str, base: u32) -> Option<i128> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, digits) = without_prefix(digits, base);
    let well_formed =
        !digits.starts_with(['_', '-', '+']) && !digits.ends_with('_') && !digits.contains("__");
    if !well_formed || !(2..=36).contains(&base) {
        return None;
    }
    let number = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
    Some(if negative { -number } else { number })
}

fn without_prefix(digits: &str, base: u32) -> (u32, &str) {
    let known = [("0x", 16), ("0o", 8), ("0b", 2)];
    for (prefix, of) in known {
        let found = digits.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if found && (base == of || base == 0) {
            return (of, digits.get(2..).unwrap_or_default());
        }
    }
    (if base == 0 { 10 } else { base }, digits)
}

/// Reads a number with a fraction as Python's `float` does.
pub fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let known = matches!(plain.as_str(), "inf" | "infinity" | "nan");
    let numeric = plain.starts_with(|char: char| char.is_ascii_digit() || char == '.');
    if !known && !numeric {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// Returns a whole number as a value, in the narrowest form.
pub fn int_value(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::from(number), Value::from)
}

/// Returns the number in a value: a truth counts as 0 or 1, as in Python.
pub fn as_int(value: &Value) -> Option<i128> {
    if let Ok(truth) = bool::try_from(value.clone())
        && value.kind() == minijinja::value::ValueKind::Bool
    {
        return Some(i128::from(truth));
    }
    value.is_integer().then(|| i128::try_from(value.clone()).ok()).flatten()
}

/// Returns the number in a value with its fraction.
pub fn as_float(value: &Value) -> Option<f64> {
    match as_int(value) {
        Some(whole) => Some(whole as f64),
        None if value.is_number() => f64::try_from(value.clone()).ok(),
        None => None,
    }
}

/// Rounds to so many digits, halves to even as the decimal text has them.
pub fn round_half_even(number: f64, digits: i32) -> f64 {
    if !number.is_finite() {
        return number;
    }
    if let Ok(digits @ 0..=300) = usize::try_from(digits) {
        // Formatting rounds the exact binary value half to even, as Python's `round` does.
        return format!("{number:.digits$}").parse().unwrap_or(number);
    }
    let scale = 10_f64.powi(-digits);
    (number / scale).round_ties_even() * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_python_writes_them() {
        let shown: Vec<String> =
            [1e16, 1.5, 2.0, 1e-5, 0.0001, 1.25e-7, -3.0, 123_456_789_012_345_680.0].map(float_text).into();

        assert_eq!(
            shown,
            ["1e+16", "1.5", "2.0", "1e-05", "0.0001", "1.25e-07", "-3.0", "1.2345678901234568e+17"]
        );
    }

    #[test]
    fn whole_numbers_are_read_as_python_reads_them() {
        assert_eq!(parse_int(" -1_000 ", 10), Some(-1000));
        assert_eq!(parse_int("0x1f", 16), Some(31));
        assert_eq!(parse_int("abc", 10), None);
        assert_eq!(parse_int("1__0", 10), None);
    }
}
