//! The name that was probably meant, for the hint below an error.

/// Returns the candidate closest to `name`, where one is close enough to be a misspelling.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= tolerance(name, candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns how many letters must be typed differently, capitals aside.
pub fn distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(&one.to_lowercase(), &other.to_lowercase())
}

/// Returns the largest distance that still counts as a misspelling: a third of the longer name.
pub fn tolerance(one: &str, other: &str) -> usize {
    one.chars().count().max(other.chars().count()).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        let keys = ["parallelism", "retries", "transient_errors"];

        assert_eq!(nearest("paralelism", keys), Some("parallelism"));
        assert_eq!(nearest("Retires", keys), Some("retries"));
        assert_eq!(nearest("timeout", keys), None);
        assert_eq!(nearest("x", []), None);
    }
}
