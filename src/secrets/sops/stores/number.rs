//! Writes floats as Go does: `%g` in YAML, another rule in JSON.

/// Writes a float for YAML: an exponent below -4 or above 5 is shown as such.
pub(super) fn yaml_float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.into();
    }
    general(number, -4..6)
}

/// Writes a float for JSON, which has no word for what is not finite.
pub(super) fn json_float(number: f64) -> String {
    if !number.is_finite() {
        return "null".into();
    }
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        return exponent(number, 1);
    }
    number.to_string()
}

/// Writes a float for dotenv and ini: upper-case, never to be taken for a whole number.
pub(super) fn flat_float(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    // Go takes 21 as the limit of the exponent in its shortest form only for `%v`.
    let text = general(number, -4..6).to_uppercase();
    if text.contains(['.', 'E']) { text } else { format!("{number:.1}") }
}

fn general(number: f64, plain: std::ops::Range<i32>) -> String {
    let scientific = format!("{number:e}");
    let power = scientific.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
    if plain.contains(&power) { number.to_string() } else { exponent(number, 2) }
}

/// Writes `1.5e+08`; `digits` is the least width of a negative power.
fn exponent(number: f64, digits: usize) -> String {
    let scientific = format!("{number:e}");
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match power.strip_prefix('-') {
        Some(power) => format!("{mantissa}e-{power:0>digits$}"),
        None => format!("{mantissa}e+{power:0>2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_floats_show_an_exponent_early() {
        let cases = [
            (0.5, "0.5"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (123_456_789.123_456_79, "1.2345678912345679e+08"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1e300, "1e+300"),
            (-0.0, "-0"),
        ];
        for (number, text) in cases {
            assert_eq!(yaml_float(number), text);
        }
    }

    #[test]
    fn json_floats_show_an_exponent_late() {
        let cases =
            [(1e20, "100000000000000000000"), (1e21, "1e+21"), (1e-7, "1e-7"), (0.000_001, "0.000001")];
        for (number, text) in cases {
            assert_eq!(json_float(number), text);
        }
    }

    #[test]
    fn flat_floats_are_never_taken_for_whole_numbers() {
        assert_eq!(flat_float(3.0), "3.0");
        assert_eq!(flat_float(1e7), "1E+07");
        assert_eq!(flat_float(0.25), "0.25");
    }
}
