//! Recognises the times that Go's yaml.v3 takes for such, and writes them as RFC 3339.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the RFC 3339 form of a text that is a time.
pub(super) fn parse(text: &str) -> Option<String> {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let date = r"(?<year>[0-9]{4})-(?<month>[0-9]{1,2})-(?<day>[0-9]{1,2})";
        let time =
            r"(?<hour>[0-9]{1,2}):(?<minute>[0-9]{1,2}):(?<second>[0-9]{1,2})(?:[.,](?<fraction>[0-9]+))?";
        Regex::new(&format!("^{date}(?:(?<gap>[Tt ]){time}(?<zone>Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?$")).ok()
    });
    let found = TIME.as_ref()?.captures(text)?;
    let number = |name: &str| found.name(name).and_then(|part| part.as_str().parse::<u32>().ok());
    let (year, month, day) = (number("year")?, number("month")?, number("day")?);
    if !(1..=12).contains(&month) || day == 0 || day > days_in(year, month) {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    let Some(gap) = found.name("gap") else { return Some(format!("{date}T00:00:00Z")) };
    let zone = zone(gap.as_str(), found.name("zone").map(|zone| zone.as_str()))?;
    let (hour, minute, second) = (number("hour")?, number("minute")?, number("second")?);
    let fraction = fraction(found.name("fraction").map_or("", |digits| digits.as_str()));
    let fits = hour < 24 && minute < 60 && second < 60;
    fits.then(|| format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
}

/// A time behind `T` has a zone, one behind a space has none.
fn zone<'a>(gap: &str, zone: Option<&'a str>) -> Option<&'a str> {
    match (gap, zone) {
        (" ", None) | (_, Some("Z" | "+00:00" | "-00:00")) if gap != " " || zone.is_none() => Some("Z"),
        (" ", _) | (_, None) => None,
        (_, Some(zone)) => {
            let part = |range| zone.get(range).and_then(|digits: &str| digits.parse::<u32>().ok());
            (part(1..3)? <= 24 && part(4..6)? < 60).then_some(zone)
        }
    }
}

fn fraction(digits: &str) -> String {
    let digits = digits.get(..9).unwrap_or(digits).trim_end_matches('0');
    if digits.is_empty() { String::new() } else { format!(".{digits}") }
}

const fn days_in(year: u32, month: u32) -> u32 {
    let leap = (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_rfc_3339() {
        let cases = [
            ("2024-01-31", "2024-01-31T00:00:00Z"),
            ("2024-1-2", "2024-01-02T00:00:00Z"),
            ("2024-02-29T1:2:3.4500Z", "2024-02-29T01:02:03.45Z"),
            ("2024-01-31t10:00:00+02:00", "2024-01-31T10:00:00+02:00"),
            ("2024-01-31T10:00:00-00:00", "2024-01-31T10:00:00Z"),
            ("2024-01-31 10:00:00.1234567891", "2024-01-31T10:00:00.123456789Z"),
        ];
        for (text, time) in cases {
            assert_eq!(parse(text).as_deref(), Some(time), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_times() {
        let cases = [
            "2023-02-29",
            "2024-01-31T10:00:00",
            "2024-01-31 10:00:00Z",
            "2024-01-31T24:00:00Z",
            "24-01-31",
            "2024-01-31T10:00:00+2:00",
        ];
        for text in cases {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
