//! The order in which people count: `2-y` before `10-z`.

/// Returns what a text is sorted by: numbers as numbers, what stands between them as text.
pub fn natural_key(text: &str) -> Vec<(u128, &str)> {
    let mut key = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|char: char| char.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        let end = behind.find(|char: char| char.is_ascii_digit()).unwrap_or(behind.len());
        let (words, next) = behind.split_at(end);
        // Text that begins without a number, or with an endless one, comes last.
        key.push((number.parse().unwrap_or(u128::MAX), words));
        rest = next;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_and_come_before_words() {
        let mut names = ["plain", "10-c", "pve10", "2-b", "pve9", "02-a"];

        names.sort_by_key(|name| natural_key(name));

        assert_eq!(names, ["02-a", "2-b", "10-c", "plain", "pve9", "pve10"]);
    }
}
